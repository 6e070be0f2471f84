import type { ControlPlane } from './cluster/control-plane.ts';
import { API_PORT, KONNECTIVITY_PORT } from './spec.ts';

/** Returns the namespace of a tenant in the management cluster. */
export function tenantNamespace(tenant: string): string {
  return `tenant-${tenant}`;
}

/**
 * Returns the objects of a tenant in the management cluster, as a provider creates them: a namespace with a Service for
 * API server and konnectivity-server, the CA, and an administrator's kubeconfig that uses the Service address.
 */
export function tenantService(controlPlane: ControlPlane): object[] {
  const { name, address, konnectivity } = controlPlane.plan;
  const namespace = tenantNamespace(name);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const ports = [
    { name: 'kube-apiserver', port: API_PORT, protocol: 'TCP' },
    ...(konnectivity
      ? [{ name: 'konnectivity-server', port: KONNECTIVITY_PORT, protocol: 'TCP' }]
      : []),
  ];
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-ca`, namespace },
      type: 'kubernetes.io/tls',
      data: {
        'tls.crt': base64(controlPlane.authority.certificate),
        'tls.key': base64(controlPlane.authority.key),
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-admin-kubeconfig`, namespace },
      data: {
        'admin.conf': base64(
          controlPlane.kubeconfigFor(`https://${name}.${namespace}.svc:${API_PORT}`),
        ),
      },
    },
  ];
}
