import { Argument, Command, InvalidArgumentError } from 'commander';
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { host as hostSchema } from '../../api/network-values.ts';
import { parseEdgeAddress, type EdgeAddress } from '../../proxy/edge/edge-address.ts';
import { refusing, secondsUpTo } from '../flag-values.ts';
import { outputOption, type Output } from '../output.ts';
import { say } from '../say.ts';

const EXAMPLES = `
Examples:
  snicket doctor edge edge.example.com --ca blue-ca.crt red-ca.crt \\
    --hosts blue.k8s.example.com,red.k8s.example.com
  snicket doctor edge 203.0.113.10:8443 --hosts blue.k8s.example.com -o json
  snicket doctor edge edge.example.com --idle 600 \\
    --hosts blue.konnectivity.example.com  # are tunnels left alone?

Any edge can be checked, Snicket's own or not, also one in production: some
eighty connections are opened, fifty of them at once. Nothing is sent over
them but TLS hellos and GET /version without credentials; docs/doctor-edge.md
has the whole list.

Exit codes:
  0  nothing fails; lines with Warn may be there
  1  something fails
  2  the command line or a file cannot be read, or nothing listens there`;

const DEFAULT_PORT = 443;
const DEFAULT_SECONDS = 5;
const MAX_TIMEOUT_SECONDS = 60;
/** The longest that konnectivity is quiet by its defaults, and some more. */
const MAX_IDLE_SECONDS = 7200;
/** For each host there are nine connections. */
const MAX_HOSTS = 16;

interface Flags {
  readonly hosts: readonly [string, ...string[]];
  readonly ca?: readonly string[];
  readonly idle: number;
  readonly timeout: number;
  readonly output: Output;
}

/** `snicket doctor edge`: whether an edge passes TLS through as it should. */
export function edgeCommand(): Command {
  return new Command('edge')
    .description('check any edge: does it pass TLS through by name, as it should?')
    .addArgument(
      new Argument('<host[:port]>', 'the edge; default port: 443').argParser((text: string) =>
        refusing(() => parseEdge(text)),
      ),
    )
    .requiredOption('--hosts <host,...>', 'hosts with a route; two tell most', parseHosts)
    .option('--ca <file...>', 'the CAs of the tenants behind it, as PEM')
    .option(
      '--idle <seconds>',
      'leave a connection alone so long',
      secondsUpTo(MAX_IDLE_SECONDS),
      DEFAULT_SECONDS,
    )
    .option(
      '--timeout <seconds>',
      'of each step',
      secondsUpTo(MAX_TIMEOUT_SECONDS),
      DEFAULT_SECONDS,
    )
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run(edge: EdgeAddress, flags: Flags, command: Command): Promise<void> {
  // Loaded here, so that help does not pay for it.
  const [{ checkEdge }, report, io, { withProgress }] = await Promise.all([
    import('../../probe/edge-conformance/check-edge.ts'),
    import('./edge-report.ts'),
    import('../output.ts'),
    import('../progress.ts'),
  ]);
  const { hosts, timeout, idle, output } = flags;
  const authorities = await readAuthorities(flags.ca ?? [], command);
  const waiting = `waiting for ${edge.host}`;
  const address = await withProgress(waiting, reach(edge, timeout * 1000, command));
  const { port } = edge;
  const checking = checkEdge(
    { address, port, hosts, authorities },
    { timeoutMs: timeout * 1000, idleMs: idle * 1000 },
  );
  const checks = await withProgress(waiting, checking);
  const diagnosis = { host: edge.host, address, port, hosts, checks };
  process.stdout.write(
    output === 'table'
      ? report.edgeText(diagnosis, io.currentScreen())
      : io.valueText(report.edgeValue(diagnosis), output),
  );
  if (report.tallyOfChecks(checks).fail > 0) process.exitCode = 1;
}

/** The first address of the edge that accepts; ends the program if there is none. */
async function reach(
  { host, port }: EdgeAddress,
  timeoutMs: number,
  command: Command,
): Promise<string> {
  const [{ resolveHost, systemLookup }, { probeEdge }, { dialTcp }, { ipVersion }] =
    await Promise.all([
      import('../../probe/hops/dns.ts'),
      import('../../probe/hops/edge.ts'),
      import('../../probe/dial.ts'),
      import('../../wire/ip-address.ts'),
    ]);
  const limits = { timeoutMs };
  const found =
    ipVersion(host) === 0
      ? await resolveHost(host, systemLookup, limits)
      : { kind: 'addresses' as const, addresses: [host] };
  if (found.kind !== 'addresses') {
    const why = found.kind === 'failed' ? `the resolver ${found.why}` : 'it has no address';
    return command.error(`error: ${host} cannot be found: ${why}; correct it, or name an address`);
  }
  const probed = await probeEdge(found.addresses, port, dialTcp, limits);
  for (const connection of probed.connections.values()) connection.destroy();
  const [first] = probed.accepting;
  if (first === undefined) {
    const { message, action } = probed.result;
    return command.error(`error: ${message}; ${action}`);
  }
  if (found.addresses.length > 1) {
    say(`note: ${host} is ${found.addresses.join(' and ')}; ${first} is checked`);
  }
  return first;
}

/** Ends the program if one of them cannot be read. */
async function readAuthorities(
  files: readonly string[],
  command: Command,
): Promise<readonly X509Certificate[]> {
  const { parseAuthorities } = await import('../../probe/tls/authorities.ts');
  return files.flatMap((file) => {
    try {
      return parseAuthorities(readFileSync(file, 'utf8'));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return command.error(`error: --ca ${file}: ${why}; name a file with certificates as PEM`);
    }
  });
}

function parseEdge(text: string): EdgeAddress {
  const hasPort = /:\d+$/.test(text) && !/^[^[]*:[^[]*:/.test(text);
  return parseEdgeAddress(hasPort ? text : `${text}:${DEFAULT_PORT}`);
}

function parseHosts(text: string): readonly string[] {
  const hosts = [...new Set(text.toLowerCase().split(','))];
  for (const one of hosts) {
    const { error } = hostSchema.safeParse(one);
    if (error !== undefined) throw new InvalidArgumentError(`${error.issues[0]?.message}.`);
  }
  if (hosts.length <= MAX_HOSTS) return hosts;
  throw new InvalidArgumentError(`${hosts.length} are too many; write ${MAX_HOSTS} at most.`);
}
