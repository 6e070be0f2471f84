import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { PREPARE_POLICIES } from '../api/exposure.ts';
import { MODE_FLAGS, type ModeFlag } from '../api/mode.ts';
import { endpoint, host } from '../api/values/network-values.ts';
import { fieldValue } from './flags/field-value.ts';
import { durationOption, objectName, refusing } from './flags/flag-values.ts';
import {
  FOLDER_NAMESPACE,
  openManagement,
  withClusterFlags,
  type ClusterFlags,
} from './flags/management-flags.ts';
import { outputOption, type Output } from './output/output.ts';
import type { NamedControlPlane } from './expose/control-planes.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket expose  # asks what it cannot find out
  snicket expose tenantcontrolplane/blue -n tenants --wait
  snicket expose service/blue -n tenants --dry-run
  snicket expose --endpoints 10.0.0.5:6443 --name blue -n tenants \\
    --ca-secret blue-ca --kubeconfig-secret blue-admin-kubeconfig

Control planes are TenantControlPlanes of Kamaji and Steward, Clusters of
k0smotron, K0smotronControlPlanes, ClusterDeployments of k0rdent, Services, and
addresses. The Exposure is made in the namespace of its control plane. Nothing
that exists is written over. Without a terminal, what is missing is an error.
Without a cluster, --dry-run prints what KIND/NAME or --endpoints come to, and
says what it could not look at.

Exit codes:
  0  it is made, is there already as it should be, or you answered that you do
     not want it; with --wait: it is Ready and reachable
  1  the plan has errors, or one of that name is there and differs; with --wait:
     it is not Ready and reachable in time
  2  the command line or the management cluster cannot be read, something is not
     said, or there is nothing to expose`;

interface Flags extends ClusterFlags {
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
  readonly output: Output;
}

/** `snicket expose`: creates the Exposure of a control plane. */
export function exposeCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('expose'))
    .description('write the Exposure of a control plane, and ask only what cannot be found out')
    .addArgument(
      new Argument('[control-plane]', 'KIND/NAME, or NAME; default: asks').argParser(
        parseControlPlane,
      ),
    )
    .option('--endpoints <address...>', 'a control plane at these, as IP:PORT', parseEndpoints)
    .option(
      '--konnectivity-endpoints <address...>',
      'with --endpoints: where its konnectivity server is',
      parseEndpoints,
    )
    .option('--name <name>', 'of the Exposure; default: that of the control plane', objectName)
    .option('--edge <name>', 'the Edge; default: the default one, or the only one', objectName)
    .option('--api-host <host>', 'default: made from the domain of the Edge', parseHost)
    .option('--konnectivity-host <host>', 'default: made from the domain of the Edge', parseHost)
    .addOption(
      new Option('--mode <mode>', 'of the proxies; default: as suits the Edge').choices(MODE_FLAGS),
    )
    .addOption(
      new Option('--prepare <policy>', "of the control plane's own object").choices(
        PREPARE_POLICIES,
      ),
    )
    .option(
      '--ca-secret <name>',
      "of the tenant's CA, without a provider; default: the one that the kubeconfig trusts",
      objectName,
    )
    .option(
      '--kubeconfig-secret <name>',
      'of its administrator, without a provider; default: the one that is called like it',
      objectName,
    )
    .option('--dry-run', 'print it, and write nothing', false)
    .option('-y, --yes', 'do not ask before it is written, not even if the plan has errors', false)
    .option('--wait', 'until it is Ready and reachable', false)
    .addOption(
      durationOption('--timeout', 'with --wait: time to wait at most', {
        least: '1s',
        most: '24h',
        fallback: '5m',
      }),
    )
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action(async (controlPlane: NamedControlPlane | undefined, flags: Flags, command: Command) => {
      refuseMisplaced(controlPlane, flags, command);
      const [{ AccessError }, { AnswerMissing }, { CannotExpose }] = await Promise.all([
        import('../kube/access/cluster-access.ts'),
        import('./expose/questions.ts'),
        import('./expose/cannot-expose.ts'),
      ]);
      try {
        await run(io, controlPlane, flags);
      } catch (error) {
        const isKnown = [AccessError, AnswerMissing, CannotExpose].some(
          (kind) => error instanceof kind,
        );
        if (!isKnown || !(error instanceof Error)) throw error;
        command.error(`error: ${error.message}`);
      }
    });
}

function refuseMisplaced(
  controlPlane: NamedControlPlane | undefined,
  flags: Flags,
  command: Command,
): void {
  if (controlPlane !== undefined && flags.endpoints !== undefined) {
    command.error('error: --endpoints is a control plane of its own; leave it out, or the name');
  }
  if (flags.konnectivityEndpoints !== undefined && flags.endpoints === undefined) {
    command.error(
      'error: --konnectivity-endpoints belongs to --endpoints; add that, or leave it out',
    );
  }
  if (flags.dryRun && flags.wait) {
    command.error('error: with --dry-run there is nothing to wait for; leave one of them out');
  }
  if (command.getOptionValueSource('timeout') === 'cli' && !flags.wait) {
    command.error('error: --timeout belongs to --wait; add that, or leave it out');
  }
}

async function run(
  io: CommandIo,
  controlPlane: NamedControlPlane | undefined,
  flags: Flags,
): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [{ orSayWhy }, { exposeControlPlane }] = await Promise.all([
    import('./plans/plans.ts'),
    import('./expose/expose-control-plane.ts'),
  ]);
  const opened = await openOrDraft(io, controlPlane, flags);
  if (opened === undefined) return;
  const { client, access } = opened;
  const requested = { ...flags, controlPlane, usualNamespace: access.namespace };
  await orSayWhy(io, async () =>
    exposeControlPlane(io, client, requested, { ...flags, timeoutMs: flags.timeout }),
  );
  // Watches on a lost connection would keep the process alive.
  if (flags.wait) io.exit();
}

/** Returns the cluster, or undefined if there is none and the Exposure was printed without it. @throws AccessError */
async function openOrDraft(
  io: CommandIo,
  controlPlane: NamedControlPlane | undefined,
  flags: Flags,
) {
  const [{ AccessError }, { printWithoutCluster }, { isNamedInFull }] = await Promise.all([
    import('../kube/access/cluster-access.ts'),
    import('./expose/expose-control-plane.ts'),
    import('./expose/without-cluster.ts'),
  ]);
  try {
    return await openManagement(io, flags);
  } catch (error) {
    const isNone = error instanceof AccessError && error.code === 'AccessMissing';
    if (!isNone || !flags.dryRun || flags.kubeconfig !== undefined) throw error;
    const requested = { ...flags, controlPlane, usualNamespace: FOLDER_NAMESPACE };
    if (isNamedInFull(requested)) {
      await printWithoutCluster(io, requested, flags, error.message);
      return undefined;
    }
    const way = 'without one, --dry-run needs KIND/NAME or --endpoints';
    throw new AccessError(error.code, `${error.message}; ${way}`, error);
  }
}

function parseControlPlane(text: string): NamedControlPlane {
  const [first = '', second, ...more] = text.split('/');
  if (first === '' || second === '' || more.length > 0) {
    throw new InvalidArgumentError('Write KIND/NAME or NAME, and the namespace as -n NAMESPACE.');
  }
  return second === undefined ? { name: first } : { kind: first, name: second };
}

function parseEndpoints(text: string, before: readonly string[] = []): readonly string[] {
  const found = text.split(',');
  return [...before, ...refusing(() => found.map((one) => fieldValue(endpoint, one)))];
}

function parseHost(text: string): string {
  return refusing(() => fieldValue(host, text));
}
