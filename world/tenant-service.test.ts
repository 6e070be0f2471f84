import { expect, test } from 'bun:test';
import type { ControlPlane } from './cluster/control-plane.ts';
import { planWorld, type TenantSpec } from './spec.ts';
import { tenantService } from './tenant-service.ts';

interface Port {
  name: string;
  port: number;
}

interface Manifest {
  kind: string;
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  ports?: Port[];
  spec?: { ports: Port[]; selector?: object };
  endpoints?: { addresses: string[] }[];
  data?: Record<string, string>;
}

/** Returns the objects of a tenant `a`, by kind and name. */
function objects(spec: TenantSpec): Record<string, Manifest> {
  const plan = planWorld({ tenants: { a: spec } }).tenants[0]!;
  const controlPlane = {
    plan,
    authority: { certificate: 'the certificate', key: 'the key' },
    kubeconfigFor: (server: string) => `a kubeconfig for ${server}`,
  } as unknown as ControlPlane;
  const manifests = tenantService(controlPlane) as Manifest[];
  return Object.fromEntries(
    manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]),
  );
}

test('the EndpointSlice of the Service has the address and the ports of the control plane', () => {
  const { 'Service a': service, 'EndpointSlice a-1': slice } = objects({});

  expect(service!.spec!.selector).toBeUndefined();
  expect(slice!.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'a' });
  expect(slice!.metadata.namespace).toBe(service!.metadata.namespace);
  expect(slice!.endpoints).toMatchObject([{ addresses: ['172.30.1.2'] }]);
  expect(slice!.ports).toEqual(service!.spec!.ports);
  expect(service!.spec!.ports.map(({ name, port }) => [name, port])).toEqual([
    ['kube-apiserver', 6443],
    ['konnectivity-server', 8132],
  ]);
});

test('a tenant without konnectivity has no port for it', () => {
  const { 'Service a': service, 'EndpointSlice a-1': slice } = objects({ konnectivity: false });

  expect(service!.spec!.ports.map(({ name }) => name)).toEqual(['kube-apiserver']);
  expect(slice!.ports!.map(({ name }) => name)).toEqual(['kube-apiserver']);
});

test("the administrator's kubeconfig has the Service as server, and the Secret has the CA", () => {
  const { 'Secret a-admin-kubeconfig': admin, 'Secret a-ca': ca } = objects({});

  expect(decoded(admin!.data!['admin.conf']!)).toBe('a kubeconfig for https://a.tenant-a.svc:6443');
  expect(decoded(ca!.data!['tls.crt']!)).toBe('the certificate');
  expect(decoded(ca!.data!['tls.key']!)).toBe('the key');
});

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
