import { Command, Option } from 'commander';
import type { ExposureStatus } from '../api/exposure.ts';
import type { ObjectChange } from '../plan/changes.ts';
import type { Outlook } from '../operator/outlook.ts';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import type { ClusterChange, ExposureChanges } from './diff-text.ts';
import {
  choiceOf,
  openManagement,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './management-flags.ts';

const EXAMPLES = `
Examples:
  snicket diff tenants/blue             # what the operator would change now
  snicket diff -A -o json               # of all Exposures, for a program
  snicket diff -A > /dev/null && echo nothing has drifted

  ~ is a change, + something new, - something that goes. Nothing is written anywhere, and no secret is shown.

Exit codes:
  0  nothing would be changed
  1  something would be
  2  something cannot be compared: lines that begin with error: say what and why`;

interface Flags extends ManagementFlags {
  readonly only?: Cluster;
  readonly output: 'text' | 'json';
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
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: Flags, command: Command) => {
      const { AccessError } = await import('../kube/cluster-access.ts');
      try {
        await diff(exposure, flags, command);
      } catch (error) {
        if (!(error instanceof AccessError)) throw error;
        command.error(`error: ${error.message}`);
      }
    });
}

async function diff(
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<void> {
  const [{ EXIT, orSayWhy, outlooks, reportFindings }, { changesText, changesValue }] =
    await Promise.all([import('./plans.ts'), import('./diff-text.ts')]);
  const { client, access } = await openManagement(flags);
  const options = {
    ...{ client, namespace: flags.operatorNamespace, proxyImage: flags.proxyImage },
    ...{ choice: choiceOf(exposure, flags, access, command), only: flags.only },
  };
  const hasColours = process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  await orSayWhy(async () => {
    const all: object[] = [];
    let hasChanges = false;
    for await (const outlook of outlooks(options)) {
      reportFindings(outlook, EXIT.failed);
      const changes = await changesOf(outlook, flags.only);
      if (changes.changes.length > 0) hasChanges = true;
      if (flags.output === 'json') all.push(changesValue(changes));
      else process.stdout.write(changesText(changes, hasColours));
    }
    if (flags.output === 'json') console.log(JSON.stringify({ exposures: all }, null, 2));
    if (hasChanges) process.exitCode ??= EXIT.wrong;
    else if (process.exitCode === undefined && process.stderr.isTTY) {
      console.error('nothing to change');
    }
  });
}

async function changesOf(outlook: Outlook, only: Cluster | undefined): Promise<ExposureChanges> {
  const { changesIn } = await import('../plan/changes.ts');
  const inCluster = (cluster: Cluster): readonly ClusterChange[] => {
    const side = outlook[cluster];
    if (side === undefined || (only ?? cluster) !== cluster) return [];
    return changesIn(side).map((change) => ({ ...change, cluster }));
  };
  return {
    exposure: outlook.object,
    changes: [
      ...(only === 'tenant' ? [] : await routeInStatus(outlook)),
      ...CLUSTERS.flatMap(inCluster),
    ],
    findings: outlook.findings,
  };
}

/** Snicket's own gateway has its routes from the status of the Exposure: no object says them. */
async function routeInStatus({ object, wish, plan }: Outlook): Promise<readonly ClusterChange[]> {
  if (wish?.edge.spec.driver !== 'snicket' || plan === undefined) return [];
  const [{ routeOf }, { comparisons }] = await Promise.all([
    import('../operator/exposure/exposure-status.ts'),
    import('../kube/apply-differences.ts'),
  ]);
  const { status } = object as typeof object & { readonly status?: ExposureStatus };
  const [from, to] = [status?.route, routeOf(plan)];
  const change: Omit<ObjectChange, 'fields'> = { action: 'change', object, waits: false };
  if (to === undefined) {
    const fields = [{ path: 'status.route', from }];
    return from === undefined ? [] : [{ ...change, cluster: 'management', fields }];
  }
  const fields = comparisons({ status: { route: to } }, { status: { route: from } });
  return fields.length === 0
    ? []
    : [
        {
          ...change,
          cluster: 'management',
          fields: fields.map(({ path, found, wanted }) => ({
            path: path.slice(1),
            ...(found !== undefined && { from: found }),
            to: wanted,
          })),
        },
      ];
}
