import { Command, Option } from 'commander';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import {
  exitWithAccessError,
  selectionOf,
  openManagement,
  rejectGiven,
  rejectContradictions,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { printMessage } from './output/messages.ts';
import { PROXY_IMAGE } from './plans/proxy-image.ts';
import {
  selectionIn,
  filesOption,
  fileSourceOf,
  validObjects,
  FILES_LOCATION,
} from './sources/file-source.ts';
import {
  TENANT_FLAGS,
  tenantSettingsOf,
  withTenantFlags,
  type TenantFlags,
} from './flags/tenant-flags.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket render tenants/blue              # one Exposure, both clusters
  snicket render -A --only management      # all, without tenants
  snicket render -f edge.yaml blue.yaml    # files instead of a cluster
  snicket render -f tenants.d              # a folder
  snicket render -f tenants.d blue         # one Exposure of that folder
  snicket render tenants/blue --values     # values for k0rdent's chart
  kustomize build . | snicket render -f -  # standard input
  snicket render -f edge.yaml blue.yaml --only management |
    kubectl diff -f -

Output read from a cluster is what the operator would apply. With -f, values
that only a cluster has are assumed, and notes name each assumption. Secret
values are shown as fingerprints, unless --show-secrets is set. This command
writes nothing.

Exit codes:
  0  success; standard error may have warnings and notes
  1  printed as far as possible; standard error has the errors
  2  nothing printed: invalid command line or file, no such Exposure, with -f no
     Exposure at all, or the management cluster cannot be read`;

interface Flags extends ManagementFlags, TenantFlags {
  readonly filename?: readonly string[];
  readonly values: boolean;
  readonly showSecrets: boolean;
  readonly only?: Cluster;
}

/** `snicket render`: prints the objects that Exposures result in, as YAML. */
export function renderCommand(io: CommandIo): Command {
  const command = withManagementFlags(new Command('render'))
    .description('Print the objects that Exposures result in, from a cluster or from files')
    .addOption(filesOption())
    .option('--values', "values for k0rdent's chart only", false)
    .option('--show-secrets', 'values of Secrets in plain text', false)
    .addOption(
      new Option('--only <cluster>', 'objects of one cluster only (default: both)').choices(
        CLUSTERS,
      ),
    );
  return withTenantFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: Flags, command: Command) => {
      rejectMisplaced(exposure, flags, command);
      await (flags.filename === undefined
        ? renderCluster(io, exposure, flags, command)
        : renderFiles(io, flags.filename, exposure, flags, command));
    });
}

function rejectMisplaced(
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): void {
  if (flags.filename === undefined) {
    rejectContradictions(exposure, flags, command);
    rejectGiven(TENANT_FLAGS, 'requires -f', command);
  } else {
    rejectGiven(['kubeconfig', 'context'], 'cannot be combined with -f', command);
  }
}

async function renderCluster(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<void> {
  const [{ printPlans }, { selectedOrFail }, { AccessError }] = await Promise.all([
    import('./plans/plans.ts'),
    import('./sources/selected-exposures.ts'),
    import('../kube/access/cluster-access.ts'),
  ]);
  try {
    const { client, access } = await openManagement(io, flags);
    await printPlans(io, {
      client,
      namespace: flags.operatorNamespace,
      proxyImage: flags.proxyImage,
      choose: (exposures) => selectedOrFail(exposures, selectionOf(exposure, flags, access)),
      only: flags.only,
      showSecrets: flags.showSecrets,
      values: flags.values,
    });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    exitWithAccessError(command, error, flags, 'its folder: -f DIR');
  }
}

async function renderFiles(
  io: CommandIo,
  words: readonly string[],
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<void> {
  const [{ plansOfFiles }, plans, { selectedInFiles }, { folderLocation }] = await Promise.all([
    import('./plans/render-files.ts'),
    import('./plans/plans.ts'),
    import('./sources/selected-exposures.ts'),
    import('./sources/folder-management.ts'),
  ]);
  const source = fileSourceOf(io, words, exposure, flags, command);
  const { folder } = source;
  const { objects } = (await validObjects(io, source, command, flags.namespace)) ?? {};
  if (objects === undefined) return;
  const assumptions = {
    namespace: flags.operatorNamespace,
    isGatewayHere: folder !== undefined,
    proxyImage: flags.proxyImage ?? PROXY_IMAGE,
    tenant: tenantSettingsOf(flags),
  };
  const place = folder === undefined ? FILES_LOCATION : folderLocation(folder);
  await plans.withErrorReporting(io, async () => {
    const { shown, notes } = await plansOfFiles(objects, assumptions, (exposures) =>
      selectedInFiles(exposures, [selectionIn(source, flags)], { ...place, hasFaults: false }),
    );
    for (const one of shown) plans.reportFindings(io, one);
    for (const sentence of notes) printMessage(io, `note: ${sentence}`);
    const texts = shown.map((one) => plans.planText(one, flags).trimEnd());
    io.stdout.write(`${texts.join('\n---\n')}\n`);
  });
}
