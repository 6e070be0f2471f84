/** The objects that users and control plane providers write: Services, EndpointSlices, Secrets, Edges, Exposures. */
import type { KubeObject } from '../../src/kube/object.ts';
import { DOMAIN, NAMESPACE, type TenantPlan } from './plan.ts';
import type { TenantAccess } from './tenants/tenant.ts';

/** An object with any other fields. */
export type AnyObject = KubeObject & Readonly<Record<string, unknown>>;

/** The Edge of the gateway. */
export const EDGE = 'shared';
/** An Edge of an ingress controller, whose routes are Ingress objects. */
export const INGRESS_EDGE = 'by-ingress';

/** Returns the namespace of all tenants, and both Edges. */
export function sharedObjects(edge: {
  readonly address: string;
  readonly port: number;
}): readonly AnyObject[] {
  const spec = { domain: DOMAIN, port: edge.port, addresses: [edge.address] };
  const apiVersion = 'snicket.dev/v1alpha1';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion, kind: 'Edge', metadata: { name: EDGE }, spec: { driver: 'snicket', ...spec } },
    {
      apiVersion,
      kind: 'Edge',
      metadata: { name: INGRESS_EDGE },
      spec: { driver: 'haproxy', ...spec, ingress: { className: 'haproxy' } },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'haproxy' },
      spec: { controller: 'haproxy.org/ingress-controller/haproxy' },
    },
  ];
}

/** Returns the objects that a provider creates for a tenant in the management cluster. */
export function tenantObjects(
  { name, address, port }: TenantPlan,
  { caCertificate, caKey, kubeconfig }: TenantAccess,
): readonly AnyObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        clusterIP: address,
        clusterIPs: [address],
        ports: [{ name: 'api', port, protocol: 'TCP' }],
      },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace: NAMESPACE,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: 'IPv4',
      ports: [{ name: 'api', port, protocol: 'TCP' }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
    secret(`${name}-ca`, { 'tls.crt': caCertificate, 'tls.key': caKey }),
    secret(`${name}-kubeconfig`, { 'admin.conf': kubeconfig }),
  ];
}

/** Returns the Exposure of a tenant. */
export function exposureOf({ name, port }: TenantPlan, edge = EDGE): AnyObject {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      edgeRef: { name: edge },
      controlPlane: {
        type: 'Service',
        service: { name, apiPort: port },
        caSecretRef: { name: `${name}-ca` },
        kubeconfigSecretRef: { name: `${name}-kubeconfig` },
      },
    },
  };
}

function secret(name: string, files: Readonly<Record<string, string>>): AnyObject {
  const data = Object.fromEntries(
    Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: NAMESPACE }, data };
}
