import { Command, Option } from 'commander';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import {
  DEFAULT_STATE,
  filesOption,
  stateOption,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket diff tenants/blue  # what the operator would change now
  snicket diff -A -o json    # all Exposures, as JSON
  snicket diff -A > /dev/null && echo no drift
  snicket diff -f blue.yaml  # as if this file were applied
  snicket diff -f edge.yaml -A
  snicket diff -f /etc/snicket
  snicket diff --state /var/lib/snicket

~ marks a change, + an addition, - a deletion; (not before ...) names the
condition to wait for. This command writes nothing and shows no secret values.

Exit codes:
  0  no changes
  1  changes found
  2  invalid command line, no such Exposure, with -f no Exposure at all, or
     objects that cannot be compared`;

/** The flags as Commander reads them. */
export interface DiffFlags extends ManagementFlags {
  readonly filename?: readonly string[];
  readonly state?: string;
  readonly only?: Cluster;
  readonly output: 'text' | 'json' | 'yaml';
}

/** `snicket diff`: shows what the operator would change. */
export function diffCommand(io: CommandIo): Command {
  return withManagementFlags(new Command('diff'))
    .description('Show what the operator would change in the management cluster and in tenants')
    .addOption(filesOption(', compared as if applied'))
    .addOption(stateOption(DEFAULT_STATE))
    .addOption(
      new Option('--only <cluster>', 'objects of one cluster only (default: both)').choices(
        CLUSTERS,
      ),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: DiffFlags, command: Command) => {
      const { runDiff } = await import('./diff/run-diff.ts');
      await runDiff(io, exposure, flags, command);
    });
}
