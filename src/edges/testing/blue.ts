/** The Exposure `tenants/blue` on an Edge `shared`, for tests. */
import { edgeSpec, type Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ExposureRoutes } from '../route.ts';
import type { EdgeContext, ServedApis } from '../driver.ts';

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

/** Minute 0 of the test. */
export const NOON_MS = Date.parse('2026-11-16T12:00:00Z');

/** An API that serves every kind, or those versions alone. */
export function serving(...apiVersions: readonly string[]): ServedApis {
  return {
    has: ({ apiVersion }) => apiVersions.length === 0 || apiVersions.includes(apiVersion),
  };
}

/** The Edge `shared`, with a spec that the API would take. */
export function edge(spec: object): Edge {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: edgeSpec.parse(spec),
  };
}

/** The Edge with nothing around it. */
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

/** What is there after a write: the object with the fields that the server puts in, and what a controller says. */
export function live(object: KubeObject, status?: object, ageMs = 0): KubeObject {
  const creationTimestamp = new Date(NOON_MS - ageMs).toISOString();
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1, creationTimestamp, uid: 'uid' },
    ...(status === undefined ? {} : { status }),
  };
}

/** An IngressClass. */
export function ingressClass(name: string, controller: string, isDefault = false): KubeObject {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name, annotations },
    spec: { controller },
  } as KubeObject;
}

/** An Edge of each driver. */
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
} as const;
