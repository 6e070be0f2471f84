import { Command, Option } from 'commander';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import {
  choiceOf,
  openManagement,
  refuseUnclear,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './management-flags.ts';
import { say } from './say.ts';

const EXAMPLES = `
Examples:
  snicket diff tenants/blue  # what the operator would change now
  snicket diff -A -o json    # of all Exposures, for a program
  snicket diff -A > /dev/null && echo nothing has drifted

~ is a change, + something new, - something that goes; (not before ...) says
what it waits for. Nothing is written anywhere, and no secret is shown.

Exit codes:
  0  nothing would be changed
  1  something would be
  2  something cannot be compared, or there is no such Exposure: lines that
     begin with error: say what and why`;

interface Flags extends ManagementFlags {
  readonly only?: Cluster;
  readonly output: 'text' | 'json' | 'yaml';
}

/** `snicket diff`: what the operator would change. */
export function diffCommand(): Command {
  return withManagementFlags(new Command('diff'))
    .description('show what the operator would change, in the management cluster and in tenants')
    .addOption(
      new Option('--only <cluster>', 'the objects of one cluster; default: both').choices(CLUSTERS),
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: Flags, command: Command) => {
      refuseUnclear(exposure, flags, command);
      const { AccessError } = await import('../kube/cluster-access.ts');
      try {
        await diff(exposure, flags);
      } catch (error) {
        if (!(error instanceof AccessError)) throw error;
        command.error(`error: ${error.message}`);
      }
    });
}

async function diff(exposure: NamedExposure | undefined, flags: Flags): Promise<void> {
  // Loaded here, so that help does not pay for it.
  const [plans, { exposureChanges }, { changesText, changesValue }, { currentScreen, valueText }] =
    await Promise.all([
      import('./plans.ts'),
      import('./exposure-changes.ts'),
      import('./diff-text.ts'),
      import('./output.ts'),
    ]);
  const { EXIT, orSayWhy, outlooks, reportFindings } = plans;
  const { client, access } = await openManagement(flags);
  const options = {
    ...{ client, namespace: flags.operatorNamespace, proxyImage: flags.proxyImage },
    ...{ choice: choiceOf(exposure, flags, access), only: flags.only },
  };
  const { hasColours } = currentScreen();
  await orSayWhy(async () => {
    const all: object[] = [];
    let hasChanges = false;
    let isEmpty = true;
    for await (const outlook of outlooks(options)) {
      isEmpty = false;
      reportFindings(outlook, EXIT.failed);
      const changes = exposureChanges(outlook, flags.only);
      if (changes.changes.length > 0) hasChanges = true;
      if (flags.output === 'text') process.stdout.write(changesText(changes, hasColours));
      else all.push(changesValue(changes));
    }
    if (flags.output !== 'text') process.stdout.write(valueText({ exposures: all }, flags.output));
    if (isEmpty) say('there is no Exposure');
    if (hasChanges) process.exitCode ??= EXIT.wrong;
    else if (!isEmpty && process.exitCode === undefined && process.stderr.isTTY) {
      say('nothing to change');
    }
  });
}
