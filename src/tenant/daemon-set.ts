/**
 * The DaemonSet around the one container that is wanted on every node.
 */
import { DEFAULT_MEMORY_LIMIT, type WorkerSpec } from '../api/worker.ts';
import { healthAddress, probesAt } from './health.ts';
import type { Container, DaemonSet, PodSpec, Resources, UpdateLimits } from './pod.ts';
import { PROXY, PROXY_LABELS, PROXY_SELECTOR } from './proxy-names.ts';
import { INJECT_LABEL } from './injection.ts';
import { amountOf, canonicalQuantity } from './quantity.ts';

/** The proxy's: nobody, who has no files and no rights on any node. */
const USER = 65_532;

/** As a person writes them, by resource. */
type Quantities = Readonly<Record<string, number | string>>;

/** What is special about a DaemonSet of ours. */
export interface DaemonSetInput {
  readonly worker: WorkerSpec;
  readonly image: string;
  readonly updateLimits: UpdateLimits;
  readonly terminationGracePeriodSeconds: number;
  /** One after the other before the container, on each start of a pod. */
  readonly init?: readonly Pick<Container, 'name' | 'args' | 'securityContext'>[];
  /** Is given `--http` and the address to listen on. */
  readonly container: Pick<Container, 'name' | 'args' | 'securityContext' | 'volumeMounts'>;
  readonly hostAliases?: PodSpec['hostAliases'] | undefined;
  /** Of the pods. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly volumes?: PodSpec['volumes'] | undefined;
}

/** On the network of the node, on every node, come what may. */
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
  const own = { image, ...notEmpty({ resources: resourcesOf(worker) }) };
  const { healthPort } = worker;
  return {
    hostNetwork: true,
    // The resolver of the node: it works before the cluster's own does.
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
    ...notEmpty({ initContainers: init.map((one) => ({ ...one, ...own })) }),
    // No ports: on the network of the node they would be host ports, of which the scheduler gives no second pod a share.
    containers: [
      {
        ...container,
        args: [...container.args, `--http=${health}:${healthPort}`],
        ...own,
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

/** No pod may have a limit below its request. */
function defaultLimits({ memory = 0 }: WorkerSpec['resources']['requests']): Quantities {
  const isAbove = amountOf(String(memory)) > amountOf(DEFAULT_MEMORY_LIMIT);
  return isAbove ? {} : { memory: DEFAULT_MEMORY_LIMIT };
}

/** Without the fields that are empty, which do not come back from a server. */
function notEmpty<T extends Readonly<Record<string, object | undefined>>>(fields: T): Partial<T> {
  const full = Object.entries(fields).filter(([, value]) => Object.keys(value ?? {}).length > 0);
  return Object.fromEntries(full) as Partial<T>;
}

function canonical(quantities: Quantities): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(quantities).map(([name, amount]) => [name, canonicalQuantity(String(amount))]),
  );
}
