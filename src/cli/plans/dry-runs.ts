/**
 * Dry runs for the Exposures of a cluster, concurrent, and in the order of their names.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { installedProxyImage, ownProxyImage } from '../../management/installed-image.ts';
import type { ObserveDeps } from '../../reconcile/observe.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { dryRun, type DryRun } from '../../reconcile/dry-run.ts';
import { chartValues, type DeploymentValues } from '../../management/chart-values.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import type { ExposurePlan } from './exposure-view.ts';
import type { Cluster } from '../../plan/render.ts';
import { WATCHED_RESOURCES } from '../../providers/provider-resources.ts';
import { requestedExposures } from '../sources/requested-exposures.ts';
import { selectedOrFail } from '../sources/selected-exposures.ts';
import { inOrder } from '../io/in-order.ts';
import { withProgress } from '../output/progress.ts';
import { PROXY_IMAGE } from './proxy-image.ts';
import { printAdvice } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Maximum number of concurrent dry runs. Most of the time is spent waiting for tenants. */
const MAX_CONCURRENT = 16;

/** Options of {@link dryRuns}. */
export interface DryRunsOptions {
  readonly io: CommandIo;
  readonly client: KubeClient;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Default: the image of the operator's own pod or Deployment, or that of this version. */
  readonly proxyImage?: string | undefined;
  /** Returns the chosen Exposures. Default: all. @throws CommandError */
  readonly choose?: ((exposures: readonly KubeObject[]) => readonly KubeObject[]) | undefined;
  /** With `management`, no tenant is read. Default: both clusters. */
  readonly only?: Cluster | undefined;
  /** Whether the values of k0rdent's charts are read. Default false. */
  readonly values?: boolean | undefined;
}

/**
 * Yields the dry runs of the Exposures in a cluster, by name.
 *
 * @throws KubeError of the management cluster, CommandError
 */
export async function* dryRuns(
  options: DryRunsOptions,
): AsyncGenerator<DryRun & ExposurePlan, void, undefined> {
  const { io, client, namespace, choose = everyOne, only } = options;
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const reading = ManagementSnapshot.read(client, signal);
    const management = await withProgress(io, `reading ${client.server}`, reading);
    const chosen = choose(management.exposures);
    const annotated = WATCHED_RESOURCES.flatMap((kind) => management.all(kind));
    const requested = requestedExposures(annotated, management);
    const proxyImage = options.proxyImage ?? (await proxyImageOf(options, signal));
    for await (const run of dryRunsOf(io, chosen, { management, namespace, proxyImage }, only)) {
      const { preparation } = run.reconciled ?? {};
      const chart = options.values === true ? await chartOf(run, management, signal) : undefined;
      const said = requested.findings.get(keyText(run.object.metadata)) ?? [];
      yield { ...run, preparation, chart, findings: [...run.findings, ...said] };
    }
  } finally {
    ended.abort();
  }
}

/** Returns the values for the chart of a control plane. @throws KubeError */
async function chartOf(
  { reconciled, resolved, plan }: DryRun,
  management: ManagementSnapshot,
  signal: AbortSignal,
): Promise<DeploymentValues | undefined> {
  const provided = reconciled?.observation.reading.provided;
  if (provided === undefined || resolved === undefined || plan?.hosts === undefined)
    return undefined;
  const { hosts } = plan;
  const objects = controlPlaneObjects(management, signal);
  return chartValues(provided, { hosts, port: resolved.edge.spec.port }, objects);
}

function everyOne(exposures: readonly KubeObject[]): readonly KubeObject[] {
  return selectedOrFail(exposures, {});
}

/** Yields the dry runs of these Exposures, in order. @throws KubeError of the management cluster */
export async function* dryRunsOf(
  io: CommandIo,
  exposures: readonly KubeObject[],
  deps: ObserveDeps,
  only?: Cluster,
): AsyncGenerator<DryRun, void, undefined> {
  const ended = new AbortController();
  const { signal } = ended;
  const options = { ...deps, readsTenants: only !== 'management' };
  const start = async (object: KubeObject) => dryRun(object, options, signal);
  try {
    for await (const { item, result } of inOrder(exposures, MAX_CONCURRENT, start)) {
      yield await withProgress(io, `waiting for the tenant of ${keyText(item.metadata)}`, result);
    }
  } finally {
    ended.abort();
  }
}

/**
 * Returns the image that the operator uses for proxies. If it cannot be determined, returns that of this version.
 *
 * @throws KubeError
 */
export async function proxyImageOf(
  { io, client, namespace }: Pick<DryRunsOptions, 'io' | 'client' | 'namespace'>,
  signal: AbortSignal,
): Promise<string> {
  const own = ownProxyImage(io.env);
  if (own !== undefined) return own;
  try {
    return (await installedProxyImage(client, namespace, signal)) ?? PROXY_IMAGE;
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    printAdvice(io, 'warning', {
      message: `cannot read the Deployment of the operator; assuming proxy image ${PROXY_IMAGE}`,
      hint: 'pass another image with --proxy-image',
    });
    return PROXY_IMAGE;
  }
}
