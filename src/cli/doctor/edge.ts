import { Command } from 'commander';
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EdgeAddress } from '../../net/edge-address.ts';
import { fileList, durationOption } from '../flags/flag-values.ts';
import { outputOption, type Output } from '../output/output.ts';
import { CommandError, asCommandError, printMessage } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket doctor edge edge.example.com --ca blue-ca.crt red-ca.crt \\
    --hosts blue.k8s.example.com red.k8s.example.com
  snicket doctor edge 203.0.113.10:8443 -o json \\
    --hosts blue.k8s.example.com
  snicket doctor edge edge.example.com --idle 10m \\
    --hosts blue.konnectivity.example.com  # are idle tunnels kept?

Works with any edge, also in production: the checks open about eighty
connections, fifty of them at once, and send only TLS hellos and GET /version
without credentials. docs/tasks/doctor-edge.md lists all checks.

Exit codes:
  0  no failures; there may be warnings
  1  failures
  2  invalid command line or file, or the edge accepts no connections`;

interface Flags {
  readonly hosts: readonly string[];
  readonly ca?: readonly string[];
  readonly idle: number;
  readonly timeout: number;
  readonly output: Output;
}

/** `snicket doctor edge`: checks whether an edge passes TLS through correctly. */
export function edgeCommand(io: CommandIo): Command {
  // The edge is required. Commander cannot check that, because --hosts may have taken it.
  return new Command('edge')
    .description('Check whether an edge passes TLS through by server name')
    .usage('[options] <host[:port]>')
    .argument('[host[:port]]', 'address of the edge (default port: 443)')
    .requiredOption('--hosts <host...>', 'hosts with a route; use two for all checks')
    .option('--ca <file...>', 'files with the CAs of the tenants, as PEM', fileList(io))
    .addOption(
      // The limit is longer than konnectivity is idle with its default settings.
      durationOption('--idle', 'time for which a connection stays idle', {
        least: '1ms',
        most: '2h',
        fallback: '5s',
      }),
    )
    .addOption(
      durationOption('--timeout', 'time limit of each step', {
        least: '1ms',
        most: '1m',
        fallback: '5s',
      }),
    )
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action(async (word: string | undefined, flags: Flags) => run(io, word, flags));
}

async function run(io: CommandIo, word: string | undefined, flags: Flags): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [{ checkEdge }, report, texts, { withProgress }] = await Promise.all([
    import('../../probe/edge-conformance/check-edge.ts'),
    import('./check-report.ts'),
    import('../output/output.ts'),
    import('../output/progress.ts'),
  ]);
  const { timeout, idle, output } = flags;
  const { edge, hosts } = await read(word, flags);
  const authorities = await readAuthorities(io, flags.ca ?? []);
  const waiting = `waiting for ${edge.host}`;
  const address = await withProgress(io, waiting, reach(io, edge, timeout));
  const { port } = edge;
  const checking = checkEdge(
    { address, port, hosts, authorities },
    { timeoutMs: timeout, idleMs: idle },
  );
  const checks = await withProgress(io, waiting, checking);
  const tally = report.tallyOfStates(checks);
  io.stdout.write(
    output === 'table'
      ? report.edgeText(checks, texts.currentScreen(io))
      : texts.valueText({ tally, edge: { host: edge.host, address, port }, hosts, checks }, output),
  );
  if (tally.fail > 0) io.exitCode = 1;
}

/** Parses the edge and the hosts. Throws an error if one is missing or invalid. */
async function read(
  word: string | undefined,
  flags: Flags,
): Promise<{ readonly edge: EdgeAddress; readonly hosts: readonly [string, ...string[]] }> {
  const { parseEdge, parseHosts, sortedArguments } = await import('./edge-arguments.ts');
  const words = sortedArguments({ edge: word, hosts: flags.hosts });
  if (words.edge === undefined) {
    throw new CommandError(
      "missing required argument 'host[:port]'",
      'pass the address of the edge',
    );
  }
  try {
    return { edge: parseEdge(words.edge), hosts: parseHosts(words.hosts) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw asCommandError(error);
  }
}

/** Returns the first address of the edge that accepts connections. Throws an error if there is none. */
async function reach(
  io: CommandIo,
  { host, port }: EdgeAddress,
  timeoutMs: number,
): Promise<string> {
  const [{ resolveHost }, { systemLookup }, { probeEdge }, { dialTcp }, { ipVersion }] =
    await Promise.all([
      import('../../probe/hops/dns.ts'),
      import('../../probe/hops/system-lookup.ts'),
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
    const why = found.kind === 'failed' ? `the resolver ${found.why}` : 'no address found';
    throw new CommandError(
      `cannot resolve ${host}: ${why}`,
      'correct the name or pass an IP address',
    );
  }
  const probed = await probeEdge(found.addresses, port, dialTcp, limits);
  for (const connection of probed.connections.values()) connection.destroy();
  const [first] = probed.accepting;
  if (first === undefined) {
    // The action of the hop is about an Edge object, which need not exist here.
    throw new CommandError(
      probed.result.message,
      'check that the edge is running and reachable from here, or correct its address or port',
    );
  }
  if (found.addresses.length > 1) {
    printMessage(
      io,
      `note: ${host} resolves to ${found.addresses.join(' and ')}; checking ${first}`,
    );
  }
  return first;
}

/** Returns the CAs in these files. Throws an error if a file cannot be read. */
async function readAuthorities(
  io: CommandIo,
  files: readonly string[],
): Promise<readonly X509Certificate[]> {
  const { parseAuthorities } = await import('../../probe/tls/authorities.ts');
  return files.flatMap((file) => {
    try {
      return parseAuthorities(readFileSync(io.path(file), 'utf8'));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new CommandError(
        `cannot read --ca ${file}: ${why}`,
        'pass a file with certificates as PEM',
      );
    }
  });
}
