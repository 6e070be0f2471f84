/**
 * Finds the control planes in a management cluster that an Exposure can be for: objects of providers, and Services that
 * look like a kube-apiserver. Pure.
 */
import { valueAt, textAt } from '../../kube/unstructured.ts';
import type { DiscoveredApis } from '../../edges/driver.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import { hasLabels } from '../../kube/label-selector.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../../kube/resource.ts';
import type { Service } from '../../providers/reading/control-plane-reading.ts';
import { clusterDeploymentOf } from '../../providers/k0rdent.ts';
import { PROVIDERS } from '../../providers/provider-for.ts';
import { isOfKind, PROVIDER_RESOURCES, servedVersion } from '../../providers/provider-resources.ts';
import { tcpPorts } from '../../providers/reading/service-reading.ts';

const API_PORT_NAMES = new Set([
  'kube-apiserver',
  'apiserver',
  'api-server',
  'api',
  'k8s-api',
  'kube-api',
]);
const API_PORT = 6443;
const KONNECTIVITY_PORT = 8132;

/** The objects among which control planes are searched. */
export interface ControlPlaneSource {
  readonly served: DiscoveredApis;
  readonly exposures: readonly KubeObject[];
  all(resource: Resource): readonly KubeObject[];
}

/** A control plane in the cluster. */
export interface FoundControlPlane {
  readonly object: KubeObject;
  readonly isService: boolean;
  /** Whether the object is recognizable as a control plane. Most Services are not. */
  readonly isObvious: boolean;
  /** The Exposure that already exposes it, `namespace/name`. */
  readonly exposedBy?: string | undefined;
}

/**
 * Returns all provider objects, except those that were created from another provider object, and then all Services,
 * whatever their ports.
 */
export function controlPlanesIn(source: ControlPlaneSource): readonly FoundControlPlane[] {
  const provided = providerObjects(source);
  const providedKeys = new Set(provided.map(({ metadata }) => keyText(metadata)));
  const found = (object: KubeObject, isService: boolean): FoundControlPlane => {
    const exposure = source.exposures.find((one) => isFor(one, object));
    const isObvious = !isService || isApiServer(object, providedKeys);
    return { object, isService, isObvious, exposedBy: exposure && keyText(exposure.metadata) };
  };
  return [
    ...provided.map((object) => found(object, false)),
    ...source.all(RESOURCES.service).map((object) => found(object, true)),
  ].filter(({ object }) => object.metadata.deletionTimestamp === undefined);
}

function providerObjects(source: ControlPlaneSource): readonly KubeObject[] {
  const all = Object.values(PROVIDERS).flatMap(({ resource }) => {
    const served = servedVersion(resource, source.served);
    return served === undefined ? [] : source.all(served);
  });
  const deployments = new Set(
    all
      .filter((object) => isOfKind(PROVIDER_RESOURCES.clusterDeployment, object))
      .map(({ metadata }) => keyText(metadata)),
  );
  return all.filter((object) => {
    if (isOwnedByProvider(object)) return false;
    if (!isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object)) return true;
    const deployment = clusterDeploymentOf(object);
    return deployment === undefined || !deployments.has(keyText(deployment));
  });
}

/**
 * Reports whether a Service looks like an API server. Excludes those of the management cluster itself, of providers and
 * of Snicket.
 */
function isApiServer(service: Service, providedKeys: ReadonlySet<string>): boolean {
  const { namespace, name } = service.metadata;
  const isOwn = namespace === 'kube-system' || keyText(service.metadata) === 'default/kubernetes';
  if (hasLabels(service, MANAGED_BY) || isOwn || isOwnedByProvider(service)) return false;
  // k0smotron names its Service kmc-NAME. Other providers name it like the object.
  const controlPlane = name.replace(/^kmc-|-(?:nodeport|lb)$/g, '');
  if (providedKeys.has(keyText({ name: controlPlane, namespace }))) return false;
  return tcpPorts(service).some(
    ({ port, portName }) => port === API_PORT || API_PORT_NAMES.has(portName),
  );
}

function isOwnedByProvider({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some((owner) =>
    Object.values(PROVIDERS).some(({ resource }) => isOfKind(resource, owner)),
  );
}

/** Reports whether an Exposure is for this object. */
function isFor(exposure: KubeObject, object: KubeObject): boolean {
  if (exposure.metadata.namespace !== object.metadata.namespace) return false;
  const controlPlane = valueAt(exposure, 'spec', 'controlPlane');
  if (isOfKind(RESOURCES.service, object)) {
    return textAt(controlPlane, 'service', 'name') === object.metadata.name;
  }
  const ref = valueAt(controlPlane, 'objectRef');
  return (
    textAt(ref, 'name') === object.metadata.name &&
    textAt(ref, 'kind') === object.kind &&
    textAt(ref, 'group') === groupOf(object.apiVersion)
  );
}

/** A control plane as given by the user: `KIND/NAME`, or the name alone. */
export interface NamedControlPlane {
  readonly kind?: string | undefined;
  readonly name: string;
}

/**
 * Returns the control planes that the user may mean, in all namespaces. A name without a kind means a provider object.
 * In a namespace without such an object, it means a Service that is recognizable as a control plane or already exposed:
 * there are too many other Services.
 */
export function controlPlanesMatching(
  { kind, name }: NamedControlPlane,
  all: readonly FoundControlPlane[],
): readonly FoundControlPlane[] {
  const called = all.filter(({ object }) => object.metadata.name === name);
  if (kind !== undefined) return called.filter(({ object }) => isCalled(kind, object));
  const provided = called.filter(({ isService }) => !isService);
  const namespaces = new Set(provided.map(({ object }) => object.metadata.namespace));
  const services = called.filter(
    ({ object, isService, isObvious, exposedBy }) =>
      isService &&
      (isObvious || exposedBy !== undefined) &&
      !namespaces.has(object.metadata.namespace),
  );
  return [...provided, ...services];
}

const KNOWN: readonly Resource[] = [
  ...Object.values(PROVIDERS).map(({ resource }) => resource),
  RESOURCES.service,
];

/** The kinds of control planes, as users write them. */
export const KNOWN_KINDS: readonly string[] = [...new Set(KNOWN.map(({ kind }) => kind))];

/** Returns the resources that a kind given by the user matches. */
export function resourcesNamed(word: string): readonly Resource[] {
  return KNOWN.filter((resource) => wordsFor(resource).includes(word.toLowerCase()));
}

/** Reports whether a word is a kind of control plane. */
export function isKnownKind(word: string): boolean {
  return resourcesNamed(word).length > 0;
}

function isCalled(word: string, object: KubeObject): boolean {
  const resource = KNOWN.find((one) => isOfKind(one, object));
  return resource !== undefined && wordsFor(resource).includes(word.toLowerCase());
}

function wordsFor({ apiVersion, kind, plural }: Resource): readonly string[] {
  const names = [kind.toLowerCase(), plural, ...(plural === 'services' ? ['svc'] : [])];
  return names.flatMap((name) => [name, `${name}.${groupOf(apiVersion)}`]);
}

/** Returns a control plane as shown in a list: `TenantControlPlane tenants/blue (kamaji.clastix.io)`. */
export function controlPlaneText({ object, isService }: FoundControlPlane): string {
  return isService ? objectText(object) : `${objectText(object)} (${groupOf(object.apiVersion)})`;
}

/** Returns the names of the Services of a namespace, each of which may be that of a control plane. */
export function serviceNames(source: Pick<ControlPlaneSource, 'all'>, namespace: string): string[] {
  return source
    .all(RESOURCES.service)
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
}

/** Returns the ports of the API and of konnectivity, as far as names and numbers identify them. */
export function portsIn(service: Service): {
  readonly api?: number | undefined;
  readonly konnectivity?: number | undefined;
} {
  const ports = tcpPorts(service);
  const konnectivity = (
    ports.find(({ port }) => port === KONNECTIVITY_PORT) ??
    ports.find(({ portName }) => /^konnectivity(-server)?$/.test(portName))
  )?.port;
  const others = ports.filter(({ port }) => port !== konnectivity);
  const api =
    others.find(({ portName }) => API_PORT_NAMES.has(portName)) ??
    others.find(({ port }) => port === API_PORT) ??
    others.find(({ port, portName }) => port === 443 || portName === 'https') ??
    (others.length === 1 ? others[0] : undefined);
  return { api: api?.port, konnectivity };
}
