/**
 * For tests only: an Exposure, an Edge and the facts about a tenant, with overrides.
 */
import type { Edge } from '../../api/edge.ts';
import type { Exposure } from '../../api/exposure.ts';
import { parseEdge, parseExposure } from '../../api/objects.ts';
import type { TenantInput } from '../../tenant/tenant-objects.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { ProxyCredentials, TenantFacts } from '../../tenant/tenant-facts.ts';
import type { Facts } from '../plan.ts';

/** Returns Exposure `tenants/blue`, which uses the default Edge and a Service with konnectivity. */
export function exposure(
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): Exposure {
  return parseExposure({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'blue', namespace: 'tenants', uid: 'uid-of-blue', ...metadata },
    spec: {
      controlPlane: {
        type: 'Service',
        service: { name: 'blue', konnectivityPort: 8132 },
        caSecretRef: { name: 'blue-ca' },
        kubeconfigSecretRef: { name: 'blue-kubeconfig' },
      },
      ...spec,
    },
  });
}

/** Returns an Edge with driver haproxy and a domain. */
export function edge(spec: Readonly<Record<string, unknown>> = {}): Edge {
  return parseEdge({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: { driver: 'haproxy', domain: 'example.com', ...spec },
  });
}

/** Service `blue` with both ports, and a CA with its key. */
export const CONTROL_PLANE: ControlPlane = {
  service: {
    name: 'blue',
    api: { port: 6443, portName: 'kube-apiserver' },
    konnectivity: { port: 8132, portName: 'konnectivity-server' },
  },
  ca: { certificate: 'certificate of the CA\n', key: 'key of the CA\n' },
};

/** A tenant without nodes. */
export const TENANT: TenantFacts = {
  version: 'v1.36.3',
  serviceAddresses: ['10.96.0.1'],
  clusterDomain: 'cluster.local',
  nodes: [],
};

/** Credentials for mode Terminate. */
export const LEAF: ProxyCredentials = { certificate: 'leaf\n', key: 'key of the leaf\n' };
/** Credentials for mode Passthrough. */
export const TENANT_KEY: ProxyCredentials = {
  tenantKey: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
};

/** Returns all facts, for a management cluster that serves every API. */
export function facts(change: Partial<Facts> = {}): Facts {
  return {
    controlPlane: CONTROL_PLANE,
    tenant: TENANT,
    credentials: LEAF,
    edgeAddresses: ['203.0.113.10'],
    served: { has: () => true },
    currentSlices: [],
    proxyImage: 'registry.example.com/snicket:1',
    ...change,
  };
}

/** Returns the input for the objects in the tenant. */
export function tenantInput(
  worker: Readonly<Record<string, unknown>> = {},
  change: Partial<TenantInput> = {},
): TenantInput {
  return {
    worker: exposure({ worker }).spec.worker,
    mode: 'Terminate',
    image: 'registry.example.com/snicket:1',
    host: 'blue.k8s.example.com',
    port: 443,
    edgeAddresses: ['203.0.113.10'],
    edge: 'shared snicket',
    exposure: exposure().spec,
    tenant: TENANT,
    authority: 'certificate of the CA\n',
    credentials: LEAF,
    currentSlices: [],
    ...change,
  };
}
