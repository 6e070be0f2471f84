import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EdgeAddress } from '../../net/edge-address.ts';
import { dialTcp } from '../../probe/dial.ts';
import { checkEdge } from '../../probe/edge-conformance/check-edge.ts';
import { resolveHost } from '../../probe/hops/dns.ts';
import { probeEdge } from '../../probe/hops/edge.ts';
import { systemLookup } from '../../probe/hops/system-lookup.ts';
import { parseAuthorities } from '../../probe/tls/authorities.ts';
import { ipVersion } from '../../wire/ip-address.ts';
import type { CommandIo } from '../io/command-io.ts';
import { asCommandError, CommandError, EXIT, printMessage } from '../output/messages.ts';
import { currentScreen, valueText } from '../output/output.ts';
import { withProgress } from '../output/progress.ts';
import { edgeText, tallyOfStates } from './check-report.ts';
import { parseEdge, parseHosts, sortedArguments } from './edge-arguments.ts';
import type { EdgeFlags } from './edge.ts';

/** Runs the checks and prints them. Sets the exit code if one fails. */
export async function runEdge(
  io: CommandIo,
  word: string | undefined,
  flags: EdgeFlags,
): Promise<void> {
  const { timeout, idle, output } = flags;
  const { edge, hosts } = edgeAndHosts(word, flags);
  const authorities = readAuthorities(io, flags.ca ?? []);
  const waiting = `waiting for ${edge.host}`;
  const address = await withProgress(io, waiting, reach(io, edge, timeout));
  const { port } = edge;
  const checking = checkEdge(
    { address, port, hosts, authorities },
    { timeoutMs: timeout, idleMs: idle },
  );
  const checks = await withProgress(io, waiting, checking);
  const tally = tallyOfStates(checks);
  io.stdout.write(
    output === 'table'
      ? edgeText(checks, currentScreen(io))
      : valueText({ tally, edge: { host: edge.host, address, port }, hosts, checks }, output),
  );
  if (tally.fail > 0) io.exitCode = EXIT.wrong;
}

/** Parses the edge and the hosts. Throws an error if one is missing or invalid. */
function edgeAndHosts(
  word: string | undefined,
  flags: EdgeFlags,
): { readonly edge: EdgeAddress; readonly hosts: readonly [string, ...string[]] } {
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
function readAuthorities(io: CommandIo, files: readonly string[]): readonly X509Certificate[] {
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
