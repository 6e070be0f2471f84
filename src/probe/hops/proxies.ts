/**
 * proxies: every worker has a ready proxy of the desired version.
 */
import type { Condition, KubeObject } from '../../kube/object.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { sentence } from '../../text/sentence.ts';

/** The fields of a DaemonSet that show the state of its pods. */
export interface ProxyDaemonSet extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly nodeSelector?: Readonly<Record<string, string>> };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

/** The fields of a pod that show why it is not ready. */
export interface ProxyPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly conditions?: readonly Pick<Condition, 'type' | 'status' | 'lastTransitionTime'>[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** The state of a container. */
export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly ready?: boolean;
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}

/** The live DaemonSet and its pods. */
export interface ProxiesInput {
  readonly daemonSet: ProxyDaemonSet | undefined;
  /** They show why some are not ready. Default: unknown. */
  readonly pods?: readonly ProxyPod[];
  /** The desired image. */
  readonly image: string;
  /** The number of nodes of the tenant. Default: unknown. */
  readonly nodes?: number | undefined;
  /** Whether the rollout is stuck. Default: unknown, and determined from the pods. */
  readonly isStuck?: boolean | undefined;
  /** Whether the proxies still have addresses that are no longer desired. Default false. */
  readonly hasOldAddresses?: boolean | undefined;
}

/** The target of {@link judgeProxies}. */
export const PROXIES_TARGET = `DaemonSet ${PROXY.namespace}/${PROXY.name}`;

/** The kubelet's waiting reasons for a missing image. */
const NO_IMAGE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
]);
const CRASHING = 'CrashLoopBackOff';

/** Returns the result for the proxies of a tenant. */
export function judgeProxies(input: ProxiesInput): HopResult {
  const {
    daemonSet,
    pods = [],
    image,
    nodes,
    isStuck,
    hasOldAddresses: isChangingAddresses = false,
  } = input;
  if (daemonSet === undefined) {
    const message = `${PROXIES_TARGET} does not exist.`;
    return hopResult('proxies', 'NotReconciled', PROXIES_TARGET, message);
  }
  const { status = {}, metadata } = daemonSet;
  const { desiredNumberScheduled: desired = 0, numberReady: ready = 0 } = status;
  const { observedGeneration = 0, updatedNumberScheduled: updated = 0 } = status;
  const { generation = 0 } = metadata;
  if (observedGeneration < generation) {
    const message = `${PROXIES_TARGET} has generation ${generation}, but its status is for generation ${observedGeneration}.`;
    return hopResult('proxies', 'ProxiesNotObserved', PROXIES_TARGET, message);
  }
  if (desired === 0) {
    if (nodes !== undefined && nodes > 0) return noneSelected(daemonSet, nodes);
    const message = 'The tenant has no nodes yet. Each node gets a proxy when it joins.';
    return hopResult('proxies', 'NoNodes', PROXIES_TARGET, message);
  }
  const count = `${ready} of ${desired} proxies are ready`;
  if (ready < desired) return notReady(count, pods, image);
  if (updated < desired) {
    const failure = isStuck === false ? undefined : permanentFailure(count, pods, image);
    if (failure !== undefined) return failure;
    const code = isStuck === true ? 'ProxiesStuck' : 'ProxiesUpdating';
    const message = `${count}, and ${updated} of them are up to date (image ${image}).`;
    return hopResult('proxies', code, PROXIES_TARGET, message, { image });
  }
  if (isChangingAddresses) {
    const message = `${count}, but they still have previous addresses besides the desired ones.`;
    return hopResult('proxies', 'ProxiesUpdating', PROXIES_TARGET, message, { image });
  }
  return hopResult('proxies', 'ProxiesReady', PROXIES_TARGET, `${count} with image ${image}.`);
}

function noneSelected({ spec }: ProxyDaemonSet, nodes: number): HopResult {
  const labels = Object.entries(spec?.template?.spec?.nodeSelector ?? {});
  const selector = labels.map(([label, value]) => `${label}=${value}`).join(',');
  const message = `None of the ${nodes} nodes matches the node selector ${selector}.`;
  return hopResult('proxies', 'NoNodeSelected', PROXIES_TARGET, message, { selector });
}

/**
 * Returns the result for unready proxies. Failures that a user can fix come before pods that are only starting. Of
 * several pods, the one that has been unready for longest is named.
 */
function notReady(count: string, pods: readonly ProxyPod[], wanted: string): HopResult {
  const failure = permanentFailure(count, pods, wanted);
  if (failure !== undefined) return failure;
  const [oldest] = unreadyPods(pods);
  const pod = oldest === undefined ? `the pods of ${PROXIES_TARGET}` : podText(oldest);
  const message =
    oldest === undefined ? count : `${count}. ${sentence(`${pod} ${sinceText(oldest)}`)}`;
  return hopResult('proxies', 'ProxiesNotReady', PROXIES_TARGET, message, { pod });
}

/** Returns the result for a pod that will not become ready without a fix, if any. */
function permanentFailure(
  count: string,
  pods: readonly ProxyPod[],
  wanted: string,
): HopResult | undefined {
  const unready = unreadyPods(pods);
  const noImage = unready.find((pod) => container(pod, isWithoutImage) !== undefined);
  if (noImage !== undefined) {
    const { image = wanted, state } = container(noImage, isWithoutImage) ?? {};
    const message = `${count}. ${sentence(`${podText(noImage)} cannot pull ${image} (${state?.waiting?.reason})`)}`;
    return hopResult('proxies', 'ProxyImageMissing', PROXIES_TARGET, message, { image });
  }
  const crashing = unready.find((pod) => container(pod, isCrashing) !== undefined);
  if (crashing !== undefined) {
    const pod = podText(crashing);
    const name = container(crashing, isCrashing)?.name;
    const message = `${count}. Container ${name} of ${pod} keeps crashing.`;
    return hopResult('proxies', 'ProxyCrashing', PROXIES_TARGET, message, { pod });
  }
  return undefined;
}

function unreadyPods(pods: readonly ProxyPod[]): readonly ProxyPod[] {
  return pods.filter((pod) => !isReady(pod)).toSorted((a, b) => since(a) - since(b));
}

function container(
  { status }: ProxyPod,
  claim: (status: ContainerStatus) => boolean,
): ContainerStatus | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.find(claim);
}

function isWithoutImage({ state }: ContainerStatus): boolean {
  return NO_IMAGE.has(state?.waiting?.reason ?? '');
}

function isCrashing({ state }: ContainerStatus): boolean {
  return state?.waiting?.reason === CRASHING;
}

function readiness({
  status,
}: ProxyPod): { status: string; lastTransitionTime: string } | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

function isReady(pod: ProxyPod): boolean {
  return readiness(pod)?.status === 'True';
}

/** Returns when the pod became unready, or its creation time if it never was ready. */
function sinceTime(pod: ProxyPod): string | undefined {
  return readiness(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp;
}

function since(pod: ProxyPod): number {
  const time = sinceTime(pod);
  return time === undefined ? Infinity : Date.parse(time);
}

function sinceText(pod: ProxyPod): string {
  const time = sinceTime(pod);
  return time === undefined ? 'is not ready' : `has not been ready since ${time}`;
}

function podText({ metadata, spec }: ProxyPod): string {
  const name = `pod ${metadata.namespace}/${metadata.name}`;
  return spec?.nodeName === undefined ? name : `${name} on node ${spec.nodeName}`;
}
