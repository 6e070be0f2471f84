/**
 * The control planes in a management cluster that an Exposure can be for: objects of providers, and Services that look
 * like a kube-apiserver. Pure.
 */
import { valueAt, textAt } from '../../edges/fields.ts';
import type { ServedApis } from '../../edges/driver.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../../kube/resource.ts';
import type { Service } from '../../providers/control-plane-reading.ts';
import { clusterDeploymentOf } from '../../providers/k0rdent.ts';
import { PROVIDERS } from '../../providers/provider-for.ts';
import { isOfKind, PROVIDER_RESOURCES, servedVersion } from '../../providers/provider-resources.ts';
import { tcpPorts } from '../../providers/service-reading.ts';

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

/** Where they are looked for. */
export interface ControlPlanePlaces {
  readonly served: ServedApis;
  readonly exposures: readonly KubeObject[];
  all(resource: Resource): readonly KubeObject[];
}

/** A control plane. */
export interface FoundControlPlane {
  readonly object: KubeObject;
  readonly isService: boolean;
  /** That it is one can be seen without being told: not so of most Services. */
  readonly isObvious: boolean;
  /** The Exposure that it has already, `namespace/name`. */
  readonly exposedBy?: string | undefined;
}

/** All objects of providers, but for those that another one was made from; then Services, whatever their ports. */
export function controlPlanesIn(places: ControlPlanePlaces): readonly FoundControlPlane[] {
  const provided = providedObjects(places);
  const providedKeys = new Set(provided.map(({ metadata }) => keyText(metadata)));
  const found = (object: KubeObject, isService: boolean): FoundControlPlane => {
    const exposure = places.exposures.find((one) => isFor(one, object));
    const isObvious = !isService || isApiServer(object, providedKeys);
    return { object, isService, isObvious, exposedBy: exposure && keyText(exposure.metadata) };
  };
  return [
    ...provided.map((object) => found(object, false)),
    ...places.all(RESOURCES.service).map((object) => found(object, true)),
  ].filter(({ object }) => object.metadata.deletionTimestamp === undefined);
}

function providedObjects(places: ControlPlanePlaces): readonly KubeObject[] {
  const all = Object.values(PROVIDERS).flatMap(({ resource }) => {
    const served = servedVersion(resource, places.served);
    return served === undefined ? [] : places.all(served);
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

/** Not the management cluster's own, nor one that a provider or Snicket made: those are something else's affair. */
function isApiServer(service: Service, providedKeys: ReadonlySet<string>): boolean {
  const { labels = {}, namespace, name } = service.metadata;
  const isOurs = Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
  const isOwn = namespace === 'kube-system' || keyText(service.metadata) === 'default/kubernetes';
  if (isOurs || isOwn || isOwnedByProvider(service)) return false;
  // k0smotron calls its Service kmc-NAME, the others like the object.
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

/** Whether an Exposure is for this object. */
function isFor(exposure: KubeObject, object: KubeObject): boolean {
  if (exposure.metadata.namespace !== object.metadata.namespace) return false;
  const controlPlane = valueAt(exposure, 'spec', 'controlPlane');
  if (isOfKind(RESOURCES.service, object)) {
    return textAt(controlPlane, 'service', 'name') === object.metadata.name;
  }
  const ref = valueAt(controlPlane, 'ref');
  return (
    textAt(ref, 'name') === object.metadata.name &&
    textAt(ref, 'kind') === object.kind &&
    groupOf(textAt(ref, 'apiVersion') ?? '') === groupOf(object.apiVersion)
  );
}

/** A control plane as somebody names it: `KIND/NAME`, or the name alone. */
export interface NamedControlPlane {
  readonly kind?: string | undefined;
  readonly name: string;
}

/** Whether it is the one that is meant. A name alone means no Service, of which there are many. */
export function isNamed(
  { kind, name }: NamedControlPlane,
  { object, isService }: FoundControlPlane,
): boolean {
  if (object.metadata.name !== name) return false;
  return kind === undefined ? !isService : wordsFor(object).includes(kind.toLowerCase());
}

function wordsFor({ apiVersion, kind }: KubeObject): readonly string[] {
  const known = [...Object.values(PROVIDERS).map(({ resource }) => resource), RESOURCES.service];
  const plural = known.find((resource) => isOfKind(resource, { apiVersion, kind }))?.plural ?? '';
  const names = [kind.toLowerCase(), plural, ...(plural === 'services' ? ['svc'] : [])];
  return names.flatMap((name) => [name, `${name}.${groupOf(apiVersion)}`]);
}

/** As a list shows it: `TenantControlPlane tenants/blue (kamaji.clastix.io)`. */
export function controlPlaneText({ object, isService }: FoundControlPlane): string {
  return isService ? objectText(object) : `${objectText(object)} (${groupOf(object.apiVersion)})`;
}

/** The names of the Services of a namespace, each of which may be that of a control plane. */
export function serviceNames(places: Pick<ControlPlanePlaces, 'all'>, namespace: string): string[] {
  return places
    .all(RESOURCES.service)
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
}

/** The ports of the API and of konnectivity, as far as their names or numbers tell. */
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
