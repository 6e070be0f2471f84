import { Command, Option } from 'commander';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import {
  filesOption,
  rejectContradictions,
  rejectGiven,
  stateOption,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { TENANT_FLAGS, withTenantFlags, type TenantFlags } from './flags/tenant-flags.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket render tenants/blue              # one Exposure, both clusters
  snicket render -A --only management      # all, without tenants
  snicket render -f edge.yaml blue.yaml    # files instead of a cluster
  snicket render -f tenants.d              # a folder
  snicket render -f tenants.d blue         # one Exposure of that folder
  snicket render --state /var/lib/snicket  # a state
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

/** The flags as Commander reads them. */
export interface RenderFlags extends ManagementFlags, TenantFlags {
  readonly filename?: readonly string[];
  readonly state?: string;
  readonly values: boolean;
  readonly showSecrets: boolean;
  readonly only?: Cluster;
}

/** `snicket render`: prints the objects that Exposures result in, as YAML. */
export function renderCommand(io: CommandIo): Command {
  const command = withManagementFlags(new Command('render'))
    .description('Print the objects that Exposures result in, from a cluster or from files')
    .addOption(filesOption())
    .addOption(stateOption())
    .option('--values', "values for k0rdent's chart only", false)
    .option('--show-secrets', 'values of Secrets in plain text', false)
    .addOption(
      new Option('--only <cluster>', 'objects of one cluster only (default: both)').choices(
        CLUSTERS,
      ),
    );
  return withTenantFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: RenderFlags, command: Command) => {
      const { renderCluster, renderFiles } = await import('./plans/run-render.ts');
      if (flags.filename === undefined && flags.state === undefined) {
        rejectContradictions(exposure, flags);
        rejectGiven(TENANT_FLAGS, 'requires -f', command);
        return renderCluster(io, exposure, flags);
      }
      if (flags.state === undefined) {
        rejectGiven(['kubeconfig', 'context'], 'cannot be combined with -f', command);
      }
      await renderFiles(io, exposure, flags, command);
    });
}
