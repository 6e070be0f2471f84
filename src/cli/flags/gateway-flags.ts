/**
 * The flags that `snicket gateway` and `snicket run` share.
 */
import { Option, type Command } from 'commander';
import { availableParallelism } from 'node:os';
import { parseListenAddress, type ListenAddress } from '../../net/listen-address.ts';
import type { EngineChoice } from '../../engine/open-engine.ts';
import type { GatewayOptions } from '../../gateway/options.ts';
import { parseNetworks as networks } from '../../gateway/routes/networks.ts';
import { durationOption, fileName, httpOption, parsedBy, wholeNumber } from './flag-values.ts';
import type { CommandIo } from '../io/command-io.ts';

/** The flags of a gateway as Commander reads them, independent of the source of its routes. */
export interface GatewayFlags {
  readonly listen: readonly ListenAddress[];
  readonly http: readonly ListenAddress[];
  readonly workers: number;
  readonly engine: EngineChoice;
  readonly proxyProtocol?: true | readonly string[];
  readonly grace: number;
  readonly drain: number;
  readonly maxConnections: number;
  readonly maxTenantConnections?: number;
  readonly maxTenantConnectionRate: number;
  readonly accessLog?: string;
}

/**
 * Divides all connections: by default a tenant gets a fifth of them. Otherwise a tenant whose endpoint is the gateway
 * itself could use them all.
 */
const FAIR_PARTS = 5;

/** Adds the gateway flags to a command. */
export function withGatewayFlags(command: Command): Command {
  const cores = availableParallelism();
  return command
    .addOption(
      new Option('--listen <address>', 'listen address for clients; can be repeated')
        .argParser(collectAddresses)
        .default(parseListenAddress(':443'), ':443'),
    )
    .addOption(httpOption(':9440'))
    .addOption(
      new Option('--workers <n>', 'number of engine threads')
        .argParser(wholeNumber(1, 256))
        .default(cores, `one per core: ${cores}`),
    )
    .addOption(
      new Option('--engine <name>', 'socket engine')
        .choices(['auto', 'epoll', 'bun'])
        .default('auto')
        .env('SNICKET_ENGINE'),
    )
    .addOption(
      new Option(
        '--proxy-protocol [networks]',
        'require a PROXY protocol v2 header on each connection; with networks such as 10.0.0.0/8,fd00::/8, require it from these and reject it from others',
      ).argParser(parseNetworks),
    )
    .addOption(
      durationOption('--grace', 'time after SIGTERM during which connections are still accepted', {
        least: '0s',
        most: '1h',
        fallback: '10s',
      }),
    )
    .addOption(
      durationOption('--drain', 'time after --grace over which connections are closed', {
        least: '0s',
        most: '24h',
        fallback: '20s',
      }),
    )
    .addOption(
      new Option('--max-connections <n>', 'maximum number of open connections, over all threads')
        .argParser(wholeNumber(1, 10_000_000))
        .default(100_000),
    )
    .addOption(
      new Option(
        '--max-tenant-connections <n>',
        'maximum number of open connections of a route without its own limit; 0: unlimited (default: a fifth of --max-connections)',
      ).argParser(wholeNumber(0, 10_000_000)),
    )
    .addOption(
      new Option(
        '--max-tenant-connection-rate <n>',
        'maximum number of new connections per second of such a route; 0: unlimited',
      )
        .argParser(wholeNumber(0, 1_000_000))
        .default(0),
    )
    .option(
      '--access-log <file>',
      'file for one line of JSON per connection; - for standard output',
      fileName,
    );
}

/** Returns the gateway options that the flags set. */
export function gatewayOptionsOf(
  io: Pick<CommandIo, 'path'>,
  flags: GatewayFlags,
): Omit<GatewayOptions, 'openRoutes' | 'keyFile'> {
  const { proxyProtocol, accessLog } = flags;
  const isFile = accessLog !== undefined && accessLog !== '-';
  return {
    listen: flags.listen,
    http: flags.http,
    workers: flags.workers,
    engine: flags.engine,
    proxyProtocol: proxyProtocol === true ? 'all' : (proxyProtocol ?? 'none'),
    graceMs: flags.grace,
    drainMs: flags.drain,
    maxConnections: flags.maxConnections,
    tenantLimits: {
      connections: flags.maxTenantConnections ?? Math.ceil(flags.maxConnections / FAIR_PARTS),
      connectionsPerSecond: flags.maxTenantConnectionRate,
    },
    accessLog: isFile ? io.path(accessLog) : accessLog,
  };
}

/**
 * Lists that the parser has created. Commander passes the default as the first `previous`, which is replaced and not
 * extended.
 */
const collected = new WeakSet<readonly ListenAddress[]>();

function collectAddresses(
  text: string,
  previous: readonly ListenAddress[],
): readonly ListenAddress[] {
  const before = collected.has(previous) ? previous : [];
  const addresses = [...before, ...parsedBy(() => parseListenAddress(text))];
  collected.add(addresses);
  return addresses;
}

function parseNetworks(text: string): readonly string[] {
  return parsedBy(() => networks(text));
}
