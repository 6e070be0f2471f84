/** For tests only: Exposure `tenants/blue` on Edge `shared`. */
import { edgeSpec, type Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ExposureRoutes } from '../route.ts';
import type { EdgeContext, DiscoveredApis } from '../driver.ts';

export const API_HOST = 'blue.k8s.example.net';
export const KONNECTIVITY_HOST = 'blue.konnectivity.example.net';

/** Its routes. */
export const BLUE: ExposureRoutes = {
  name: 'blue',
  namespace: 'tenants',
  api: { kind: 'api', host: API_HOST, service: 'blue', port: 6443, portName: 'kube-apiserver' },
  konnectivity: {
    kind: 'konnectivity',
    host: KONNECTIVITY_HOST,
    service: 'blue',
    port: 8132,
    portName: 'konnectivity-server',
  },
};

/** The current time in tests. */
export const NOON_MS = Date.parse('2026-11-16T12:00:00Z');

/** Returns an API that serves every kind, or only these versions. */
export function serving(...apiVersions: readonly string[]): DiscoveredApis {
  return {
    has: ({ apiVersion }) => apiVersions.length === 0 || apiVersions.includes(apiVersion),
  };
}

/** Returns Edge `shared` with this spec. */
export function edge(spec: object): Edge {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: edgeSpec.parse(spec),
  };
}

/** Returns the context of the Edge, without any other objects. */
export function context(spec: object, around: Partial<EdgeContext> = {}): EdgeContext {
  return {
    edge: edge(spec),
    served: serving(),
    ingressClasses: [],
    gateways: [],
    gatewayClasses: [],
    namespaceLabels: {},
    nowMs: NOON_MS,
    ...around,
  };
}

/** Returns the object as it exists after a write, with server-set fields and the status of a controller. */
export function live(object: KubeObject, status?: object, ageMs = 0): KubeObject {
  const creationTimestamp = new Date(NOON_MS - ageMs).toISOString();
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1, creationTimestamp, uid: 'uid' },
    ...(status === undefined ? {} : { status }),
  };
}

/** Returns an IngressClass. */
export function ingressClass(name: string, controller: string, isDefault = false): KubeObject {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name, annotations },
    spec: { controller },
  } as KubeObject;
}

/** The spec of an Edge for each driver. */
export const SPECS = {
  snicket: { driver: 'snicket' },
  haproxy: { driver: 'haproxy', ingress: { className: 'haproxy' } },
  'haproxy-ingress': { driver: 'haproxy-ingress', ingress: { className: 'haproxy-community' } },
  nginx: { driver: 'nginx', ingress: { className: 'nginx' } },
  'nginx-inc': { driver: 'nginx-inc', ingress: { className: 'nginx-inc' } },
  traefik: { driver: 'traefik' },
  contour: { driver: 'contour' },
  'gateway-api': {
    driver: 'gateway-api',
    gatewayApi: { parentRefs: [{ namespace: 'edge', name: 'shared', sectionName: 'tls' }] },
  },
  ingress: {
    driver: 'ingress',
    ingress: { className: 'mine', annotations: { 'example.net/passthrough': 'on' } },
  },
  None: { driver: 'None' },
} as const;
