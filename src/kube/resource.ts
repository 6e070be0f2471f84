/**
 * The kinds that Snicket reads or writes, with their URLs.
 */
import type { KubeObject } from './object.ts';

/** A kind and its place in the API. */
export interface Resource {
  /** As in objects: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** As in URLs: `daemonsets`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

function resource(apiVersion: string, kind: string, plural: string, namespaced = true): Resource {
  return { apiVersion, kind, plural, namespaced };
}

/** All kinds that Snicket uses. */
export const RESOURCES = {
  namespace: resource('v1', 'Namespace', 'namespaces', false),
  node: resource('v1', 'Node', 'nodes', false),
  pod: resource('v1', 'Pod', 'pods'),
  service: resource('v1', 'Service', 'services'),
  endpoints: resource('v1', 'Endpoints', 'endpoints'),
  secret: resource('v1', 'Secret', 'secrets'),
  configMap: resource('v1', 'ConfigMap', 'configmaps'),
  serviceAccount: resource('v1', 'ServiceAccount', 'serviceaccounts'),
  event: resource('events.k8s.io/v1', 'Event', 'events'),
  endpointSlice: resource('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  lease: resource('coordination.k8s.io/v1', 'Lease', 'leases'),
  daemonSet: resource('apps/v1', 'DaemonSet', 'daemonsets'),
  ingress: resource('networking.k8s.io/v1', 'Ingress', 'ingresses'),
  ingressClass: resource('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', false),
  mutatingAdmissionPolicy: resource(
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
    false,
  ),
  mutatingAdmissionPolicyBinding: resource(
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
    false,
  ),
  customResourceDefinition: resource(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    false,
  ),
  edge: resource('snicket.dev/v1alpha1', 'Edge', 'edges', false),
  exposure: resource('snicket.dev/v1alpha1', 'Exposure', 'exposures'),
  tenantRoute: resource('snicket.dev/v1alpha1', 'TenantRoute', 'tenantroutes'),
  ingressRouteTcp: resource('traefik.io/v1alpha1', 'IngressRouteTCP', 'ingressroutetcps'),
  transportServer: resource('k8s.nginx.org/v1', 'TransportServer', 'transportservers'),
  httpProxy: resource('projectcontour.io/v1', 'HTTPProxy', 'httpproxies'),
  gateway: resource('gateway.networking.k8s.io/v1', 'Gateway', 'gateways'),
  gatewayClass: resource('gateway.networking.k8s.io/v1', 'GatewayClass', 'gatewayclasses', false),
  /** Served as v1, v1alpha3 or v1alpha2: see `withVersion`. */
  tlsRoute: resource('gateway.networking.k8s.io/v1', 'TLSRoute', 'tlsroutes'),
} as const satisfies Record<string, Resource>;

/** Returns the same kind in another version of its group. */
export function withVersion(resource: Resource, version: string): Resource {
  const slash = resource.apiVersion.indexOf('/');
  return { ...resource, apiVersion: `${resource.apiVersion.slice(0, slash + 1)}${version}` };
}

/** Returns the group of an apiVersion. Empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/**
 * Returns the resource of an object.
 *
 * @throws TypeError for a kind that is not in {@link RESOURCES}.
 */
export function resourceOf({
  apiVersion,
  kind,
}: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource {
  for (const known of Object.values(RESOURCES)) {
    if (known.kind === kind && groupOf(known.apiVersion) === groupOf(apiVersion)) {
      return { ...known, apiVersion };
    }
  }
  throw new TypeError(`unknown kind ${kind} of ${apiVersion}`);
}
