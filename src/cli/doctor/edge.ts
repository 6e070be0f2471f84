import { Command } from 'commander';
import { fileList, durationOption } from '../flags/flag-values.ts';
import { outputOption, type Output } from '../output/output.ts';
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

/** The flags as Commander reads them. */
export interface EdgeFlags {
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
    .action(async (word: string | undefined, flags: EdgeFlags) => {
      const { runEdge } = await import('./run-edge.ts');
      await runEdge(io, word, flags);
    });
}
