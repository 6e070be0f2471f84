/**
 * The DaemonSet of the proxy, and the one that cleans up after it.
 */
import { modeFlag } from '../api/mode.ts';
import type { WorkerMode, WorkerSpec } from '../api/worker.ts';
import { formatListenAddress } from '../net/listen-address.ts';
import { daemonSet } from './daemon-set.ts';
import { canonicalAddress } from '../kube/endpoints/endpoint-address.ts';
import { ADDRESS_MANAGER, UNPRIVILEGED, type DaemonSet, type HostAlias } from './pod.ts';
import { EDGE_ANNOTATION, PROXY, PROXY_CONFIG, PROXY_FILES } from './proxy-names.ts';

/** The input of {@link proxyDaemonSet}. */
export interface ProxyPodsInput {
  readonly worker: WorkerSpec;
  readonly mode: WorkerMode;
  readonly image: string;
  /** The API host of the tenant. */
  readonly host: string;
  /** The name and the driver of the Edge. */
  readonly edge: string;
  /** The virtual addresses to add to every node. They have the families of the tenant's Service. */
  readonly virtualAddresses: readonly string[];
  /** The virtual addresses to remove from every node. */
  readonly previousAddresses: readonly string[];
  /** Whether to listen at every address of the node, or only at the virtual ones. */
  readonly listenEverywhere: boolean;
}

const FOLDER = '/etc/snicket';
const VOLUME = 'credentials';
/** Readable by owner and group: root owns the files, and the group is that of the pod. */
const FILE_MODE = 0o440;

/** How long a proxy accepts new connections after SIGTERM: until kube-proxy and clients use the next one. */
const GRACE_SECONDS = 5;
/** Over how long it then closes the open connections. */
const DRAIN_SECONDS = 15;
/** Added to the termination grace period, so that the kubelet does not kill a proxy that is draining. */
const END_SECONDS = 10;

/** Returns the DaemonSet of the proxy. */
export function proxyDaemonSet(input: ProxyPodsInput): DaemonSet {
  const { worker, image } = input;
  return daemonSet({
    worker,
    image,
    // The new pod listens on the same port before the old one terminates, so an upgrade has no gap.
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
        // A single volume, so that a certificate and its CA change at the same moment. The template does not contain
        // the addresses of the edge: the kubelet updates the files, and no pod restarts.
        projected: {
          defaultMode: FILE_MODE,
          sources: [{ secret: { name: PROXY.name } }, { configMap: { name: PROXY_CONFIG.name } }],
        },
      },
    ],
  });
}

/**
 * Returns the DaemonSet that removes the virtual addresses from all nodes, after the endpoints no longer contain them.
 *
 * The proxy of a node terminates first and closes its connections, which would hang without the address. The new pod
 * then removes the address and stays ready, so that the status of the DaemonSet shows when all nodes are done.
 */
export function cleanupDaemonSet({
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
      name: 'cleanup',
      args: ['address', 'remove', '--stay', ...virtualAddresses],
      securityContext: ADDRESS_MANAGER,
    },
  });
}

function addressSteps({
  virtualAddresses,
  previousAddresses,
}: ProxyPodsInput): NonNullable<Parameters<typeof daemonSet>[0]['init']> {
  const step = (name: string, action: string, addresses: readonly string[]) =>
    addresses.length === 0
      ? []
      : [{ name, args: ['address', action, ...addresses], securityContext: ADDRESS_MANAGER }];
  return [
    ...step('address', 'add', virtualAddresses),
    ...step('address-removal', 'remove', previousAddresses),
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
    `--grace=${GRACE_SECONDS}s`,
    `--drain=${DRAIN_SECONDS}s`,
    `--log-level=${worker.logLevel}`,
  ];
}

/** Returns the aliases of the spec, with one entry for each address: `ip` is the key of the list. */
function hostAliases({ hostAliases: aliases = [] }: WorkerSpec): readonly HostAlias[] {
  const names = new Map<string, readonly string[]>();
  for (const { ip, hostnames } of aliases) {
    const address = canonicalAddress(ip);
    names.set(address, [...new Set([...(names.get(address) ?? []), ...hostnames])]);
  }
  return [...names].map(([ip, hostnames]) => ({ ip, hostnames }));
}
