/**
 * Whether an operator runs and leads, as far as the user may read that.
 */
import { numberAt, listAt, textsAt } from '../../kube/unstructured.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/kube-error.ts';
import type { Lease } from '../../kube/election/lease.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LEASE_NAME } from '../../operator/run-operator.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';

/** The state of the operator. `unknown`: the user may not read it, or the server did not answer. */
export interface OperatorState {
  readonly state: 'running' | 'down' | 'unknown';
  /** What was found, without a period at the end. */
  readonly message: string;
  /** What to do about `down` and `unknown`. */
  readonly action?: string;
}

/** The name in the manifests. */
const DEPLOYMENT_NAME = 'snicket-operator';

/** Allowed difference between the clocks of this machine and the holder, before the Lease is read again. */
const CLOCK_SLACK_MS = 5000;
/** Longer than the holder waits between two renewals. */
const SECOND_READ_DELAY_MS = 3000;

interface OperatorReading {
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Default: the clock of this machine. */
  readonly now?: () => Date;
  /** Default: Bun.sleep. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Reads the operator's Deployment and its Lease. An error response does not throw. */
export async function readOperator(
  client: Pick<KubeClient, 'get'>,
  options: OperatorReading,
): Promise<OperatorState> {
  const { namespace, signal } = options;
  const key = { name: DEPLOYMENT_NAME, namespace };
  const [deployment, lease] = await Promise.all([
    orKubeError(client.get(PROVIDER_RESOURCES.deployment, key, { signal })),
    orKubeError(client.get<Lease>(RESOURCES.lease, { name: LEASE_NAME, namespace }, { signal })),
  ]);
  if (lease instanceof KubeError) {
    return deployment instanceof KubeError
      ? unreadable(lease, namespace)
      : byReplicas(deployment, key);
  }
  const holder = lease?.spec?.holderIdentity ?? '';
  const isHeld = lease !== undefined && holder !== '' && (await isRenewed(client, lease, options));
  if (isHeld === true) {
    const replicas = deployment instanceof KubeError ? undefined : replicasText(deployment);
    return {
      state: 'running',
      message: [`${holder} leads`, ...(replicas === undefined ? [] : [replicas])].join(', '),
    };
  }
  const isReadable = deployment !== undefined && !(deployment instanceof KubeError);
  if (isReadable && !isElecting(deployment)) return byReplicas(deployment, key);
  if (isHeld instanceof KubeError) return unreadable(isHeld, namespace);
  // An operator without leader election has no Lease.
  if (deployment instanceof KubeError && lease === undefined)
    return unreadable(deployment, namespace);
  if (deployment === undefined && lease === undefined) return notFound(namespace);
  const since = lease?.spec?.renewTime;
  return {
    state: 'down',
    message: `no leader${since === undefined ? '' : ` since ${since}`}`,
    action: checkHint(key),
  };
}

async function orKubeError<T>(answer: Promise<T>): Promise<T | KubeError> {
  try {
    return await answer;
  } catch (error) {
    if (isKubeError(error)) return error;
    throw error;
  }
}

/**
 * Returns whether the holder renews the Lease, or the error that prevents finding out. The clocks may differ: if the
 * Lease looks expired, it is read again to see whether it changes.
 */
async function isRenewed(
  client: Pick<KubeClient, 'get'>,
  lease: Lease,
  { signal, now = () => new Date(), pause = Bun.sleep }: OperatorReading,
): Promise<boolean | KubeError> {
  const { renewTime = '', leaseDurationSeconds = 0 } = lease.spec ?? {};
  const silentMs = Math.abs(now().getTime() - Date.parse(renewTime));
  if (silentMs <= leaseDurationSeconds * 1000 + CLOCK_SLACK_MS) return true;
  await pause(SECOND_READ_DELAY_MS);
  const later = await orKubeError(client.get<Lease>(RESOURCES.lease, lease.metadata, { signal }));
  if (later instanceof KubeError) return later;
  return later !== undefined && later.metadata.resourceVersion !== lease.metadata.resourceVersion;
}

function byReplicas(deployment: KubeObject | undefined, key: ObjectKey): OperatorState {
  if (deployment === undefined) return notFound(key.namespace ?? '');
  const ready = numberAt(deployment, 'status', 'readyReplicas') ?? 0;
  const message = replicasText(deployment) ?? '';
  if (ready > 0) return { state: 'running', message };
  return { state: 'down', message, action: checkHint(key) };
}

function replicasText(deployment: KubeObject | undefined): string | undefined {
  if (deployment === undefined) return undefined;
  const ready = numberAt(deployment, 'status', 'readyReplicas') ?? 0;
  const wanted = numberAt(deployment, 'spec', 'replicas') ?? 1;
  return `${ready} of ${wanted} replicas are ready`;
}

/** Reports whether the replicas use leader election. */
function isElecting(deployment: KubeObject): boolean {
  return listAt(deployment, 'spec', 'template', 'spec', 'containers').some((container) =>
    textsAt(container, 'args').includes('--leader-elect'),
  );
}

function notFound(namespace: string): OperatorState {
  return {
    state: 'down',
    message: `not found in namespace ${namespace}`,
    action: 'install it, or pass its namespace as --operator-namespace',
  };
}

function unreadable(error: KubeError, namespace: string): OperatorState {
  const isRefused = error.reason === 'Forbidden';
  return {
    state: 'unknown',
    message: isRefused ? 'no permission to read it' : error.message,
    action: isRefused
      ? `required: get of Deployment and Lease ${DEPLOYMENT_NAME} in namespace ${namespace}`
      : 'try again',
  };
}

function checkHint(key: ObjectKey): string {
  return `check Deployment ${keyText(key)}: kubectl -n ${key.namespace} describe deployment ${key.name}`;
}
