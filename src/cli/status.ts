import { Argument, Command } from 'commander';
import {
  DEFAULT_STATE,
  folderOption,
  parseExposureName,
  rejectClusterFlags,
  rejectContradictions,
  stateOption,
  withClusterFlags,
  type ClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import type { CommandIo } from './io/command-io.ts';
import { CommandError } from './output/messages.ts';
import { outputOption, type Output } from './output/output.ts';

const EXAMPLES = `
Examples:
  snicket status               # Edges, and Exposures of the namespace
  snicket status -A --watch    # all Exposures, live, until Ctrl-C
  snicket status tenants/blue  # details and problems of one Exposure
  snicket status -o wide       # more columns
  snicket status -A -o json    # everything, as JSON
  snicket status -f DIR        # of \`snicket run DIR\`
  snicket status --state DIR   # of its state folder

A narrow terminal shows fewer columns; -o json has everything. With --watch and
without a terminal, or with TERM=dumb, each change is printed as a line. With -f
or --state, the status is from \`snicket run\`, with the errors in its
folder and whether it is running. This command writes nothing.

Exit codes:
  0  everything shown is Ready and reachable, and the operator (with --state:
     snicket run) is running
  1  something shown is not Ready, or has Reachable or KonnectivityReady False,
     the operator is not running, or a file of its folder is invalid
  2  invalid command line, or the state or the management cluster cannot be read`;

/** The flags as Commander reads them. */
export interface StatusFlags extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly output: Output | 'wide' | 'name';
  readonly watch: boolean;
  readonly state?: string;
  readonly filename?: string;
}

/** `snicket status`: shows the status of Edges and Exposures. */
export function statusCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('status'))
    .description('Show the status of Edges and Exposures')
    .addArgument(
      new Argument(
        '[exposure]',
        'NAMESPACE/NAME or NAME, for details (default: all in the namespace)',
      ).argParser(parseExposureName),
    )
    .option('-A, --all-namespaces', 'Exposures of all namespaces', false)
    .addOption(outputOption(['wide', 'name']))
    .option('-w, --watch', 'live status, until Ctrl-C', false)
    .addOption(folderOption())
    .addOption(stateOption(DEFAULT_STATE))
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: StatusFlags, command: Command) => {
      rejectMisplaced(exposure, flags, command);
      const { runStatus } = await import('./status/run-status.ts');
      await runStatus(io, exposure, flags);
    });
}

function rejectMisplaced(
  exposure: NamedExposure | undefined,
  flags: StatusFlags,
  command: Command,
): void {
  rejectContradictions(exposure, flags);
  if (flags.watch && flags.output !== 'table' && flags.output !== 'wide') {
    const elsewhere =
      flags.state === undefined && flags.filename === undefined
        ? `kubectl get exposures --watch -o ${flags.output}`
        : `status.yaml in ${flags.state ?? 'the state folder'}, which is rewritten at every change`;
    throw new CommandError(
      `--watch does not support -o ${flags.output}`,
      `remove one of them; for programs: ${elsewhere}`,
    );
  }
  rejectClusterFlags(flags, command);
}
