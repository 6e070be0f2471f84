/**
 * The DaemonSet that runs one container on every node of a tenant.
 */
import { DEFAULT_MEMORY_LIMIT, type WorkerSpec } from '../api/worker.ts';
import { healthAddress, probesAt } from './health.ts';
import type { Container, DaemonSet, PodSpec, Resources, UpdateLimits } from './pod.ts';
import { PROXY, PROXY_LABELS, PROXY_SELECTOR } from './proxy-names.ts';
import { INJECT_LABEL } from './injection.ts';
import { amountOf, canonicalQuantity } from './quantity.ts';

/** The user ID of the proxy, which owns no files and has no permissions on any node. */
const USER = 65_532;

/** Quantities by resource, as a user writes them. */
type Quantities = Readonly<Record<string, number | string>>;

/** What differs between the DaemonSets of Snicket. */
interface DaemonSetInput {
  readonly worker: WorkerSpec;
  readonly image: string;
  readonly updateLimits: UpdateLimits;
  readonly terminationGracePeriodSeconds: number;
  /** Init containers, in order. */
  readonly init?: readonly Pick<Container, 'name' | 'args' | 'securityContext'>[];
  /** The container, without `--http`, which is added with the health address. */
  readonly container: Pick<Container, 'name' | 'args' | 'securityContext' | 'volumeMounts'>;
  readonly hostAliases?: PodSpec['hostAliases'] | undefined;
  /** The annotations of the pods. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly volumes?: PodSpec['volumes'] | undefined;
}

/** Returns a DaemonSet whose pods run on the host network of every node, with the highest priority. */
export function daemonSet(input: DaemonSetInput): DaemonSet {
  const health = healthAddress(podSpec(input, ''));
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...PROXY, labels: PROXY_LABELS },
    spec: {
      selector: { matchLabels: PROXY_SELECTOR },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: input.updateLimits },
      template: {
        metadata: {
          labels: { ...PROXY_LABELS, [INJECT_LABEL]: 'false' },
          ...notEmpty({ annotations: input.annotations }),
        },
        spec: podSpec(input, health),
      },
    },
  };
}

function podSpec(input: DaemonSetInput, health: string): PodSpec {
  const { worker, image, init = [], container, hostAliases, volumes } = input;
  const settings = { image, ...notEmpty({ resources: resourcesOf(worker) }) };
  const { healthPort } = worker;
  return {
    hostNetwork: true,
    // The resolver of the node works before the cluster's DNS does.
    dnsPolicy: 'Default',
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    serviceAccountName: PROXY.name,
    priorityClassName: 'system-node-critical',
    terminationGracePeriodSeconds: input.terminationGracePeriodSeconds,
    nodeSelector: { 'kubernetes.io/os': 'linux', ...worker.nodeSelector },
    ...notEmpty({
      imagePullSecrets: worker.imagePullSecrets,
      tolerations: worker.tolerations,
      hostAliases,
    }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...notEmpty({
      initContainers: init.map((initContainer) => ({ ...initContainer, ...settings })),
    }),
    // The container declares no ports: on the host network these would be host ports, and the scheduler would not place
    // a second pod on the node during a rollout.
    containers: [
      {
        ...container,
        args: [...container.args, `--http=${health}:${healthPort}`],
        ...settings,
        ...probesAt(health, healthPort),
      },
    ],
    ...(volumes !== undefined && { volumes }),
  };
}

function resourcesOf({ resources }: WorkerSpec): Resources {
  return notEmpty({
    requests: canonical(resources.requests),
    limits: canonical(resources.limits ?? defaultLimits(resources.requests)),
  });
}

/** A memory limit must not be below the request. */
function defaultLimits({ memory = 0 }: WorkerSpec['resources']['requests']): Quantities {
  const isAbove = amountOf(String(memory)) > amountOf(DEFAULT_MEMORY_LIMIT);
  return isAbove ? {} : { memory: DEFAULT_MEMORY_LIMIT };
}

/** Returns the fields without empty ones, which the API server does not return. */
function notEmpty<T extends Readonly<Record<string, object | undefined>>>(fields: T): Partial<T> {
  const full = Object.entries(fields).filter(([, value]) => Object.keys(value ?? {}).length > 0);
  return Object.fromEntries(full) as Partial<T>;
}

function canonical(quantities: Quantities): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(quantities).map(([name, amount]) => [name, canonicalQuantity(String(amount))]),
  );
}
