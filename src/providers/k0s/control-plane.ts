/**
 * A control plane of k0smotron, by itself or under Cluster API: both have the same spec.
 */
import { createHash } from 'node:crypto';
import { listAt, numberAt, textAt, textsAt, valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ProviderName } from '../reading/control-plane-reading.ts';
import type { KnownFacts, ProvidedPlaces } from '../reading/provided-reading.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../provider-resources.ts';

const DEFAULT_SERVICE_CIDR = '10.96.0.0/12';

const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';

/**
 * The name by which everything of it is called: its own, or for a K0smotronControlPlane that of the Cluster that owns it,
 * or that users have put into its label before there is an owner.
 */
export function clusterNameOf(object: KubeObject): string | undefined {
  const { name, ownerReferences = [], labels = {} } = object.metadata;
  if (!isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object)) return name;
  const owner = ownerReferences.find((reference) =>
    isOfKind(PROVIDER_RESOURCES.capiCluster, reference),
  );
  return owner?.name ?? labels[CLUSTER_LABEL];
}

/** The Ingress that k0smotron makes of `spec.ingress`. */
export function ingressName(object: KubeObject): string {
  return nameOfPart(clusterNameOf(object) ?? object.metadata.name);
}

/** The StatefulSet of its control plane. */
export function statefulSetName(object: KubeObject): string {
  return nameOfPart(clusterNameOf(object) ?? object.metadata.name);
}

/** What of a Cluster of Cluster API is taken where k0sConfig says nothing. */
export interface ClusterNetwork {
  readonly serviceCidrs: readonly string[];
  readonly serviceDomain?: string | undefined;
}

/** Whether it has konnectivity: unless somebody switched it off. */
export function hasKonnectivity(object: KubeObject): boolean {
  const flags = [
    ...textsAt(object, 'spec', 'controlPlaneFlags'),
    ...textsAt(object, 'spec', 'controllerPlaneFlags'), // as v1beta1 calls it
  ];
  // k0smotron joins them with blanks into one line for a shell.
  const words = flags.join(' ').replaceAll(/["']/g, '').split(/\s+/);
  return !words.some((word, index) => {
    const [name = '', components = words[index + 1] ?? ''] = word.split('=');
    return name === '--disable-components' && components.split(',').includes('konnectivity-server');
  });
}

/** Where everything of it is. `name` is that of the Cluster of k0smotron. */
export function placesOf(object: KubeObject, name: string): ProvidedPlaces {
  const refs = listAt(object, 'spec', 'certificateRefs');
  const ca = refs.find((ref) => textAt(ref, 'type') === 'ca');
  return {
    maker: 'k0smotron',
    namespace: object.metadata.namespace,
    service: serviceName(name, textAt(object, 'spec', 'service', 'type') ?? 'ClusterIP'),
    portNames: { api: 'api', konnectivity: 'konnectivity' },
    ports: {
      api: numberAt(object, 'spec', 'service', 'apiPort') ?? 30_443,
      konnectivity: numberAt(object, 'spec', 'service', 'konnectivityPort') ?? 30_132,
    },
    ca: {
      name: textAt(ca, 'name') ?? `${name}-ca`,
      certificateKey: 'tls.crt',
      privateKeyKey: 'tls.key',
    },
    kubeconfig: { name: `${name}-kubeconfig`, entries: ['value'] },
  };
}

const SERVICE_SUFFIX: Readonly<Record<string, string>> = {
  ClusterIP: '',
  NodePort: '-nodeport',
  LoadBalancer: '-lb',
};
const MAX_NAME_LENGTH = 63;
const HASH_LENGTH = 5;

/** As k0smotron makes it: one for each type. */
export function serviceName(cluster: string, type: string): string {
  return nameOfPart(cluster, SERVICE_SUFFIX[type]);
}

/** As k0smotron calls all that it makes of a Cluster: shortened if need be. */
function nameOfPart(cluster: string, suffix = ''): string {
  const name = `kmc-${cluster}${suffix}`;
  if (name.length <= MAX_NAME_LENGTH) return name;
  const hash = createHash('md5').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}-${hash}`;
}

/** What its object says; `status` is of the Cluster of k0smotron. */
export function factsOf(
  object: KubeObject,
  provider: ProviderName,
  { status, network }: { readonly status: unknown; readonly network?: ClusterNetwork | undefined },
): KnownFacts {
  const config = valueAt(object, 'spec', 'k0sConfig', 'spec', 'network');
  const cidr = textAt(config, 'serviceCIDR');
  const given = network?.serviceCidrs ?? [];
  const fallback = given.length > 0 ? given : [DEFAULT_SERVICE_CIDR];
  const ready = numberAt(status, 'readyReplicas') ?? 0;
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  return {
    provider,
    objects: [object],
    phase: isDeleting ? 'deleting' : ready > 0 ? 'serving' : 'provisioning',
    because: isDeleting ? 'it is being deleted' : `${ready} of its pods are ready`,
    version: textAt(object, 'status', 'version') ?? textAt(object, 'spec', 'version'),
    serviceCidrs: cidr === undefined ? fallback : cidr.split(',').map((one) => one.trim()),
    clusterDomain: textAt(config, 'clusterDomain') ?? network?.serviceDomain ?? 'cluster.local',
    hasKonnectivity: hasKonnectivity(object),
  };
}
