import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { PREPARE_POLICIES } from '../api/exposure.ts';
import { MODE_FLAGS, type ModeFlag } from '../api/mode.ts';
import { endpoint, host } from '../api/values/network-values.ts';
import { fieldValue } from './flags/field-value.ts';
import { durationOption, objectName, parsedBy } from './flags/flag-values.ts';
import { rejectGiven, withClusterFlags, type ClusterFlags } from './flags/management-flags.ts';
import { outputOption, type Output } from './output/output.ts';
import type { NamedControlPlane } from './expose/control-planes.ts';
import { CommandError } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket expose  # prompts for what cannot be detected
  snicket expose tenantcontrolplane/blue -n tenants --wait
  snicket expose service/blue -n tenants --dry-run
  snicket expose --endpoints 10.0.0.5:6443 --name blue -n tenants \\
    --ca-secret blue-ca --kubeconfig-secret blue-admin-kubeconfig

Control planes are TenantControlPlanes of Kamaji and Steward, Clusters of
k0smotron, K0smotronControlPlanes, ClusterDeployments of k0rdent, Services, and
addresses. The Exposure is created in the namespace of its control plane.
Existing objects are never changed. Without a terminal, a missing value is an
error. Without a cluster, --dry-run prints the Exposure for KIND/NAME or
--endpoints, and lists what was not checked.

Exit codes:
  0  created, unchanged, or declined at the prompt; with --wait: Ready and
     reachable
  1  the plan has errors, or an Exposure of that name exists and differs; with
     --wait: not Ready and reachable in time
  2  invalid command line, a missing value, nothing to expose, or the management
     cluster cannot be read`;

/** The flags as Commander reads them. */
export interface ExposeFlags extends ClusterFlags {
  readonly endpoints?: readonly string[];
  readonly konnectivityEndpoints?: readonly string[];
  readonly name?: string;
  readonly edge?: string;
  readonly apiHost?: string;
  readonly konnectivityHost?: string;
  readonly mode?: ModeFlag;
  readonly prepare?: string;
  readonly caSecret?: string;
  readonly kubeconfigSecret?: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly wait: boolean;
  readonly timeout: number;
  readonly output: Output | 'name';
}

/** `snicket expose`: creates the Exposure of a control plane. */
export function exposeCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('expose'))
    .description('Expose a control plane, prompting only for what cannot be detected')
    .addArgument(
      new Argument('[control-plane]', 'KIND/NAME or NAME (default: prompt)').argParser(
        parseControlPlane,
      ),
    )
    .option('--endpoints <address...>', 'endpoints of the API server, as IP:PORT', parseEndpoints)
    .option(
      '--konnectivity-endpoints <address...>',
      'with --endpoints: endpoints of the konnectivity server',
      parseEndpoints,
    )
    .option(
      '--name <name>',
      'name of the Exposure (default: that of the control plane)',
      objectName,
    )
    .option(
      '--edge <name>',
      'name of the Edge (default: the default Edge, or the only one)',
      objectName,
    )
    .option(
      '--api-host <host>',
      'API host (default: derived from the domain of the Edge)',
      parseHost,
    )
    .option(
      '--konnectivity-host <host>',
      'konnectivity host (default: derived from the domain of the Edge)',
      parseHost,
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'mode of the proxies (default: the best one for the Edge)',
      ).choices(MODE_FLAGS),
    )
    .addOption(
      new Option(
        '--prepare <policy>',
        'policy for changes to the object of the control plane',
      ).choices(PREPARE_POLICIES),
    )
    .option(
      '--ca-secret <name>',
      'without a provider: Secret with the CA of the tenant (default: the CA that the kubeconfig trusts)',
      objectName,
    )
    .option(
      '--kubeconfig-secret <name>',
      'without a provider: Secret with the kubeconfig of an administrator (default: the one named after the control plane)',
      objectName,
    )
    .option('--dry-run', 'print the Exposure without creating it', false)
    .option('-y, --yes', 'no confirmation, even if the plan has errors', false)
    .option('--wait', 'wait until the Exposure is Ready and reachable', false)
    .addOption(
      durationOption('--timeout', 'with --wait: maximum time to wait', {
        least: '1s',
        most: '24h',
        fallback: '5m',
      }),
    )
    .addOption(outputOption(['name']))
    .addHelpText('after', EXAMPLES)
    .action(
      async (controlPlane: NamedControlPlane | undefined, flags: ExposeFlags, command: Command) => {
        rejectMisplaced(controlPlane, flags, command);
        const { runExpose } = await import('./expose/run-expose.ts');
        await runExpose(io, controlPlane, flags);
      },
    );
}

function rejectMisplaced(
  controlPlane: NamedControlPlane | undefined,
  flags: ExposeFlags,
  command: Command,
): void {
  if (controlPlane !== undefined && flags.endpoints !== undefined) {
    throw new CommandError(
      '--endpoints cannot be combined with the name of a control plane',
      'remove one of them',
    );
  }
  if (flags.endpoints === undefined) {
    rejectGiven(['konnectivityEndpoints'], 'requires --endpoints', command, '--endpoints');
  }
  if (flags.dryRun && flags.wait) {
    throw new CommandError('--dry-run and --wait are mutually exclusive', 'remove one of them');
  }
  if (!flags.wait) rejectGiven(['timeout'], 'requires --wait', command, '--wait');
}

function parseControlPlane(text: string): NamedControlPlane {
  const [first = '', second, ...more] = text.split('/');
  if (first === '' || second === '' || more.length > 0) {
    throw new InvalidArgumentError('must be KIND/NAME or NAME; pass the namespace as -n NAMESPACE');
  }
  return second === undefined ? { name: first } : { kind: first, name: second };
}

function parseEndpoints(text: string, before: readonly string[] = []): readonly string[] {
  const found = text.split(',');
  return [...before, ...parsedBy(() => found.map((one) => fieldValue(endpoint, one)))];
}

function parseHost(text: string): string {
  return parsedBy(() => fieldValue(host, text));
}
