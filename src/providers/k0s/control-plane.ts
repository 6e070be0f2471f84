/**
 * A control plane of k0smotron, standalone or under Cluster API. Both have the same spec.
 */
import { createHash } from 'node:crypto';
import { listAt, numberAt, textAt, textMapAt, textsAt, valueAt } from '../../kube/unstructured.ts';
import type { ProviderIngress } from '../../plan/control-plane.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ProviderName } from '../reading/control-plane-reading.ts';
import type { KnownFacts, ProvidedNames } from '../reading/provided-reading.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../provider-resources.ts';

const DEFAULT_SERVICE_CIDR = '10.96.0.0/12';

const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';

/**
 * Returns the name from which the names of all its objects derive: the name of a k0smotron Cluster itself. For a
 * K0smotronControlPlane, it is the name of the Cluster that owns it, or of the Cluster in its label if it has no owner
 * yet.
 */
export function clusterNameOf(object: KubeObject): string | undefined {
  const { name, ownerReferences = [], labels = {} } = object.metadata;
  if (!isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object)) return name;
  const owner = ownerReferences.find((reference) =>
    isOfKind(PROVIDER_RESOURCES.capiCluster, reference),
  );
  return owner?.name ?? labels[CLUSTER_LABEL];
}

/** Returns the name of the Ingress that k0smotron creates from `spec.ingress`. */
export function ingressName(object: KubeObject): string {
  return nameOfPart(clusterNameOf(object) ?? object.metadata.name);
}

/**
 * Returns the Ingress that k0smotron creates from `spec.ingress`, or from the values of a chart; undefined if it creates
 * none.
 */
export function ingressFrom(values: unknown, name: string): ProviderIngress | undefined {
  const api = textAt(values, 'apiHost');
  if (api === undefined || valueAt(values, 'deploy') === false) return undefined;
  return {
    name,
    className: textAt(values, 'className'),
    annotations: textMapAt(values, 'annotations'),
    hosts: { api, konnectivity: textAt(values, 'konnectivityHost') },
  };
}

/** Returns the name of the StatefulSet of the control plane. */
export function statefulSetName(object: KubeObject): string {
  return nameOfPart(clusterNameOf(object) ?? object.metadata.name);
}

/** The fields of a Cluster API Cluster that serve as defaults for those of k0sConfig. */
export interface ClusterNetwork {
  readonly serviceCidrs: readonly string[];
  readonly serviceDomain?: string | undefined;
}

/** Reports whether the control plane has konnectivity, which a flag can disable. */
export function hasKonnectivity(object: KubeObject): boolean {
  const flags = [
    ...textsAt(object, 'spec', 'controlPlaneFlags'),
    ...textsAt(object, 'spec', 'controllerPlaneFlags'), // the name in v1beta1
  ];
  // k0smotron joins the flags with spaces into one line for a shell.
  const words = flags.join(' ').replaceAll(/["']/g, '').split(/\s+/);
  return !words.some((word, index) => {
    const [name = '', components = words[index + 1] ?? ''] = word.split('=');
    return name === '--disable-components' && components.split(',').includes('konnectivity-server');
  });
}

/** Returns the names of the objects that k0smotron creates. `name` is that of the k0smotron Cluster. */
export function namesOf(object: KubeObject, name: string): ProvidedNames {
  const refs = listAt(object, 'spec', 'certificateRefs');
  const ca = refs.find((ref) => textAt(ref, 'type') === 'ca');
  return {
    displayName: 'k0smotron',
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

/** Returns the name of the Service. k0smotron uses another one for each type. */
export function serviceName(cluster: string, type: string): string {
  return nameOfPart(cluster, SERVICE_SUFFIX[type]);
}

/** Returns the name that k0smotron gives to an object of a Cluster, shortened if necessary. */
function nameOfPart(cluster: string, suffix = ''): string {
  const name = `kmc-${cluster}${suffix}`;
  if (name.length <= MAX_NAME_LENGTH) return name;
  const hash = createHash('md5').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}-${hash}`;
}

/** Returns the facts in the object. `status` is that of the k0smotron Cluster. */
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
    phaseReason: isDeleting ? 'it is being deleted' : `${ready} of its pods are ready`,
    version: textAt(object, 'status', 'version') ?? textAt(object, 'spec', 'version'),
    serviceCidrs: cidr === undefined ? fallback : cidr.split(',').map((block) => block.trim()),
    clusterDomain: textAt(config, 'clusterDomain') ?? network?.serviceDomain ?? 'cluster.local',
    hasKonnectivity: hasKonnectivity(object),
    ingress: ingressFrom(valueAt(object, 'spec', 'ingress'), ingressName(object)),
  };
}
