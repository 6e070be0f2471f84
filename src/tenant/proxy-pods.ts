/**
 * The proxy on every node, and how it leaves.
 */
import { modeFlag } from '../api/mode.ts';
import type { WorkerMode, WorkerSpec } from '../api/worker.ts';
import { formatListenAddress } from '../net/listen-address.ts';
import { daemonSet } from './daemon-set.ts';
import { canonicalAddress } from '../kube/endpoints/endpoint-address.ts';
import { ADDRESS_KEEPER, UNPRIVILEGED, type DaemonSet, type HostAlias } from './pod.ts';
import { EDGE_ANNOTATION, PROXY, PROXY_CONFIG, PROXY_FILES } from './proxy-names.ts';

/** What the DaemonSet is made from. */
export interface ProxyPodsInput {
  readonly worker: WorkerSpec;
  readonly mode: WorkerMode;
  readonly image: string;
  /** The tenant's API host. */
  readonly host: string;
  /** The name and the driver of the Edge. */
  readonly edge: string;
  /** Of the families that the tenant's Service has: put on every node. */
  readonly virtualAddresses: readonly string[];
  /** Taken off every node. */
  readonly formerAddresses: readonly string[];
  /** Whether to listen at every address of the node, and not at the virtual ones alone. */
  readonly listenEverywhere: boolean;
}

const FOLDER = '/etc/snicket';
const VOLUME = 'credentials';
/** Read by owner and group: the files are root's, the group is the pod's. */
const FILE_MODE = 0o440;

/** How long a proxy takes new connections after it was told to end: until kube-proxy and clients have the next one. */
const GRACE_SECONDS = 5;
/** Then, over how long it closes the others. */
const DRAIN_SECONDS = 15;
/** Above what the proxy takes, so that it is not killed on its way out. */
const END_SECONDS = 10;

/** The DaemonSet of the proxy. */
export function proxyDaemonSet(input: ProxyPodsInput): DaemonSet {
  const { worker, image } = input;
  return daemonSet({
    worker,
    image,
    // The next pod listens on the same port before the one before it ends: an upgrade closes no gap.
    updateLimits: { maxSurge: '10%', maxUnavailable: 0 },
    terminationGracePeriodSeconds: GRACE_SECONDS + DRAIN_SECONDS + END_SECONDS,
    init: addressSteps(input),
    container: {
      name: 'proxy',
      args: ['proxy', ...flagsOf(input)],
      securityContext: UNPRIVILEGED,
      volumeMounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
    },
    hostAliases: hostAliases(worker),
    annotations: { [EDGE_ANNOTATION]: input.edge },
    volumes: [
      {
        name: VOLUME,
        // One volume, so that a certificate and the authority behind it change at the same moment. No address of the edge
        // is in the template: kubelet updates the files, and no pod restarts.
        projected: {
          defaultMode: FILE_MODE,
          sources: [{ secret: { name: PROXY.name } }, { configMap: { name: PROXY_CONFIG.name } }],
        },
      },
    ],
  });
}

/**
 * The DaemonSet that takes the virtual address off all nodes again, once the endpoints lead elsewhere.
 *
 * The proxy of a node ends first, and with it its connections; without the address they would hang. Then the address
 * goes, and the pod waits, ready, so that the DaemonSet tells when all nodes are done.
 */
export function leavingDaemonSet({
  worker,
  image,
  virtualAddresses,
}: Pick<ProxyPodsInput, 'worker' | 'image' | 'virtualAddresses'>): DaemonSet {
  return daemonSet({
    worker,
    image,
    updateLimits: { maxSurge: 0, maxUnavailable: '100%' },
    terminationGracePeriodSeconds: END_SECONDS,
    container: {
      name: 'leaving',
      args: ['address', 'remove', '--stay', ...virtualAddresses],
      securityContext: ADDRESS_KEEPER,
    },
  });
}

function addressSteps({
  virtualAddresses,
  formerAddresses,
}: ProxyPodsInput): NonNullable<Parameters<typeof daemonSet>[0]['init']> {
  const step = (name: string, action: string, addresses: readonly string[]) =>
    addresses.length === 0
      ? []
      : [{ name, args: ['address', action, ...addresses], securityContext: ADDRESS_KEEPER }];
  return [
    ...step('address', 'add', virtualAddresses),
    ...step('former-address', 'remove', formerAddresses),
  ];
}

function flagsOf(input: ProxyPodsInput): string[] {
  const { worker, mode, host, virtualAddresses } = input;
  const listen = input.listenEverywhere
    ? [`:${worker.port}`]
    : virtualAddresses.map((address) => formatListenAddress({ address, port: worker.port }));
  const file = (name: keyof typeof PROXY_FILES): string => `${FOLDER}/${PROXY_FILES[name]}`;
  const files =
    mode === 'Terminate'
      ? [`--cert=${file('certificate')}`, `--key=${file('key')}`]
      : [`--tenant-key-file=${file('tenantKey')}`];
  return [
    `--mode=${modeFlag(mode)}`,
    ...listen.map((at) => `--listen=${at}`),
    `--edge-file=${file('edge')}`,
    `--server-name=${host}`,
    `--ca=${file('authorities')}`,
    ...files,
    `--grace=${GRACE_SECONDS}`,
    `--drain=${DRAIN_SECONDS}`,
    `--log-level=${worker.logLevel}`,
  ];
}

/** As the user wrote them. An address stands there once: it is the key of the list. */
function hostAliases({ hostAliases: given = [] }: WorkerSpec): readonly HostAlias[] {
  const names = new Map<string, readonly string[]>();
  for (const { ip, hostnames } of given) {
    const address = canonicalAddress(ip);
    names.set(address, [...new Set([...(names.get(address) ?? []), ...hostnames])]);
  }
  return [...names].map(([ip, hostnames]) => ({ ip, hostnames }));
}
