import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS } from '../engine/limits.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import type { EngineChoice } from '../engine/open-engine.ts';
import { parseEdgeAddress, type EdgeAddress } from '../net/edge-address.ts';
import type { ProxyMode } from '../proxy/proxy.ts';
import type { LogLevel } from '../telemetry/log.ts';
import { programLog } from './output/program-log.ts';
import { serverNameFault } from '../wire/hello/server-name.ts';
import {
  durationOption,
  fileName,
  listenAddresses,
  logLevelOption,
  parsedBy,
  wholeNumber,
} from './flags/flag-values.ts';
import { signaled } from './io/signaled.ts';
import { adviceIn, CommandError, asCommandError, printAdvice } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  Behind an ingress controller that passes TLS through by server name:
    snicket proxy --mode terminate --listen 100.64.64.1:6443 \\
      --edge edge.example.com:443 --server-name tenant-a.k8s.example.com \\
      --ca ca.crt --cert tls.crt --key tls.key --http :9443
  Behind Snicket's gateway; TLS is end-to-end, so that client certificates work:
    snicket proxy --mode passthrough --listen 100.64.64.1:6443 \\
      --edge edge.example.com:443 --server-name tenant-a.k8s.example.com \\
      --ca ca.crt --tenant-key-file tenant.key --http :9443

Exit codes:
  0  stopped by a signal
  1  a listen address is not available
  2  invalid command line, or a file that cannot be used`;

interface Flags {
  readonly mode: ProxyMode['name'];
  readonly listen: readonly ListenAddress[];
  readonly edge?: EdgeAddress;
  readonly edgeFile?: string;
  readonly serverName: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly tenantKeyFile?: string;
  readonly http?: readonly ListenAddress[];
  readonly engine: EngineChoice;
  readonly grace: number;
  readonly drain: number;
  readonly maxConnections: number;
  readonly maxBufferedBytes: number;
  readonly logLevel: LogLevel;
}

/** `snicket proxy`: runs on a worker until it gets a signal to end. */
export function proxyCommand(io: CommandIo): Command {
  return new Command('proxy')
    .description('Run the proxy of a worker, which connects its pods to the edge')
    .addOption(
      new Option('--mode <mode>', 'how the edge learns the tenant')
        .choices(['passthrough', 'terminate'])
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--listen <address>',
      'listen address for pods, such as 100.64.64.1:6443 or [::]:6443; can be repeated',
      listenAddresses,
    )
    .option('--edge <host:port>', 'address of the edge', edgeAddress)
    .option(
      '--edge-file <file>',
      'file with the addresses of the edge, one HOST:PORT per line, instead of --edge; reloaded when it changes',
      fileName,
    )
    .requiredOption(
      '--server-name <name>',
      'API host of the tenant, by which the edge routes',
      name,
    )
    .option('--ca <file>', "file with the tenant's CA, which verifies the server", fileName)
    .option(
      '--cert <file>',
      'file with the serving certificate and its chain (terminate)',
      fileName,
    )
    .option('--key <file>', 'file with its private key (terminate)', fileName)
    .option(
      '--tenant-key-file <file>',
      "file with the tenant's key, 32 bytes as base64 (passthrough)",
      fileName,
    )
    .option('--http <address>', 'listen address of /healthz, /readyz and /metrics', listenAddresses)
    .addOption(
      new Option('--engine <engine>', 'socket engine (passthrough)')
        .choices(['auto', 'epoll', 'bun'] satisfies EngineChoice[])
        .env('SNICKET_ENGINE')
        .default('auto'),
    )
    .addOption(
      durationOption('--grace', 'time after SIGTERM during which connections are still accepted', {
        least: '0s',
        most: '1h',
        fallback: '5s',
      }),
    )
    .addOption(
      durationOption('--drain', 'time after --grace over which connections are closed', {
        least: '0s',
        most: '1h',
        fallback: '15s',
      }),
    )
    .option(
      '--max-connections <number>',
      'maximum number of open connections',
      wholeNumber(1, 10_000_000),
      DEFAULT_LIMITS.maxConnections,
    )
    .option(
      '--max-buffered-bytes <number>',
      'maximum number of bytes buffered for slow readers, over all connections',
      wholeNumber(1_000_000, 2 ** 40),
      DEFAULT_LIMITS.maxBufferedBytes,
    )
    .addOption(logLevelOption())
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => run(io, flags, command));
}

async function run(io: CommandIo, flags: Flags, command: Command): Promise<void> {
  const log = await programLog(io, flags.logLevel);
  const mode = modeOf(io, flags, command);
  const edge = edgeOf(io, flags);
  const { listen, serverName, http, engine, maxConnections, maxBufferedBytes } = flags;
  const limits = { maxConnections, maxBufferedBytes };
  if (mode.name === 'terminate' && engine === 'epoll') {
    log.info('SNICKET_ENGINE is for mode passthrough, and ignored in mode terminate', { engine });
  }
  // By default SIGHUP ends the process. Tools that rotate logs send it, but the proxy has no log file to reopen.
  io.signals.on('SIGHUP', () => log.info('SIGHUP: nothing to reopen'));
  // Imported lazily, so that other commands do not load it.
  const { AddressUnavailable, startProxy } = await import('../proxy/proxy.ts');
  const proxy = await startProxy({
    mode,
    listen,
    edge,
    serverName,
    http,
    engine,
    limits,
    log,
  }).catch((error: unknown) => {
    if (!(error instanceof AddressUnavailable)) throw asCommandError(error);
    printAdvice(io, 'error', adviceIn(error.message));
    return io.exit(1); // exit code 1, as in the gateway: the machine is at fault, not the command line
  });
  log.info('accepting connections', { mode: mode.name, ports: proxy.ports, http: proxy.httpPorts });

  const second = new AbortController();
  await signaled(io);
  const graceMs = flags.grace;
  const drainMs = flags.drain;
  log.info('draining; send the signal again to exit immediately', { graceMs, drainMs });
  void signaled(io).then(() => second.abort());
  await proxy.drain(graceMs, drainMs, second.signal);
  proxy.stop();
  io.exit(0); // a dial that cannot be canceled would keep the process alive for minutes
}

function edgeOf(io: CommandIo, { edge, edgeFile }: Flags): EdgeAddress | { readonly file: string } {
  if (edge !== undefined && edgeFile !== undefined) {
    throw new CommandError('--edge and --edge-file are mutually exclusive', 'remove one of them');
  }
  if (edgeFile !== undefined) return { file: io.path(edgeFile) };
  if (edge !== undefined) return edge;
  throw new CommandError('no address of the edge', 'pass --edge HOST:PORT or --edge-file FILE');
}

/**
 * Returns the mode with its files. Throws an error if a flag belongs to the other mode, so that the mistake does
 * not surface in production.
 */
function modeOf(io: CommandIo, flags: Flags, command: Command): ProxyMode {
  const { mode, ca, cert, key, tenantKeyFile } = flags;
  const needed = (flag: string, value: string | undefined): string => {
    if (value !== undefined) return io.path(value);
    throw new CommandError(`mode ${mode} requires ${flag}`, `pass ${flag} FILE`);
  };
  const refuse = (flag: string, value: string | undefined): void => {
    if (value === undefined) return;
    const other = mode === 'terminate' ? 'passthrough' : 'terminate';
    throw new CommandError(
      `${flag} '${value}' applies to mode ${other}, not to ${mode}`,
      `remove ${flag}`,
    );
  };
  switch (mode) {
    case 'passthrough':
      refuse('--cert', cert);
      refuse('--key', key);
      return {
        name: mode,
        tenantKeyFile: needed('--tenant-key-file', tenantKeyFile),
        caFile: needed('--ca', ca),
      };
    case 'terminate':
      refuse('--tenant-key-file', tenantKeyFile);
      if (command.getOptionValueSource('engine') === 'cli' && flags.engine === 'epoll') {
        refuse('--engine', flags.engine);
      }
      return {
        name: mode,
        caFile: needed('--ca', ca),
        certFile: needed('--cert', cert),
        keyFile: needed('--key', key),
      };
  }
}

function edgeAddress(text: string): EdgeAddress {
  return parsedBy(() => parseEdgeAddress(text));
}

function name(text: string): string {
  const bytes = Buffer.from(text);
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault === undefined) return text.toLowerCase();
  throw new InvalidArgumentError(`must be a DNS name: ${fault}`);
}
