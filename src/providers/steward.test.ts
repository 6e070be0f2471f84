import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { pasteText, planPreparations } from './preparation/plan-preparation.ts';
import type { PreparationSpec } from './preparation/preparation.ts';
import { steward } from './steward.ts';
import {
  changed,
  newTenantControlPlane,
  kubeconfigFor,
  readyTenantControlPlane,
  secretOf,
  serviceOf,
  ownerFor,
} from './testing/provider-objects.ts';
import { objectsFrom } from './testing/provider-objects-source.ts';

const CA = await makeCa();
const SPEC: PreparationSpec = {
  hosts: { api: 'green.k8s.example.test', konnectivity: 'green.konnectivity.example.test' },
  port: 443,
};

function plan(object: KubeObject, spec: PreparationSpec = SPEC) {
  const [found] = planPreparations(
    [object],
    (bases) => steward.prepare(bases, spec),
    ownerFor('green'),
  );
  if (found === undefined) throw new Error('one object has one plan');
  return found;
}

test('a tenant of Steward is read like one of Kamaji', async () => {
  const reading = await steward.read(
    readyTenantControlPlane('steward', 'green'),
    objectsFrom([
      secretOf('green-ca', { 'ca.crt': CA.certificate, 'ca.key': CA.key }),
      secretOf('green-admin-kubeconfig', {
        'admin.conf': kubeconfigFor('https://green.k8s.example.test:443'),
        'super-admin.svc': kubeconfigFor('https://green.tenants.svc:6443'),
      }),
      serviceOf('green', { 'kube-apiserver': 6443, 'konnectivity-server': 8132 }),
    ]),
  );

  expect(reading.findings).toEqual([]);
  expect(reading.controlPlane?.service.konnectivity?.port).toBe(8132);
  expect(reading.provided).toMatchObject({
    provider: 'steward',
    phase: 'serving',
    publishedServer: 'https://green.k8s.example.test:443',
  });
});

describe('a tenant of Steward behind an edge', () => {
  test('has the host without a port, and an Ingress that no controller serves', () => {
    const found = plan(newTenantControlPlane('steward', 'green'));

    expect(found.findings).toEqual([]);
    expect(pasteText(found)).toBe(`apiVersion: steward.butlerlabs.dev/v1alpha1
kind: TenantControlPlane
metadata:
  name: green
  namespace: tenants
spec:
  controlPlane:
    ingress:
      hostname: green.k8s.example.test
      ingressClassName: snicket-unhandled
    deployment:
      extraArgs:
        apiServer:
          - --endpoint-reconciler-type=none
  networkProfile:
    certSANs:
      - green.k8s.example.test
      - green.konnectivity.example.test
`);
  });

  test.each([
    [
      'another port',
      { ...SPEC, port: 8443 },
      {},
      'EdgePortUnsupported',
      'The Edge uses port 8443, but Steward writes port 443 to the kubeconfigs and the agents of TenantControlPlane tenants/green.',
    ],
    [
      'a konnectivity host of another name',
      { ...SPEC, hosts: { ...SPEC.hosts, konnectivity: 'konn.green.example.test' } },
      {},
      'HostMismatch',
      'The konnectivity host is konn.green.example.test, but Steward issues its certificate for green.konnectivity.example.test.',
    ],
    [
      'a host without a derived konnectivity host',
      { ...SPEC, hosts: { api: 'green.example.test', konnectivity: 'k.example.test' } },
      {},
      'HostMismatch',
      'for green.example.test, the host of the API',
    ],
    [
      "Steward's own proxy",
      SPEC,
      { 'spec.addons.tcpProxy': {} },
      'ProviderFeatureConflict',
      'TenantControlPlane tenants/green has spec.addons.tcpProxy',
    ],
  ])('is rejected for %s', (_, spec, fields, code, message) => {
    const { findings } = plan(changed(newTenantControlPlane('steward', 'green'), fields), spec);

    expect(findings).toMatchObject([{ code, severity: 'error' }]);
    expect(findings[0]?.message).toContain(message);
  });

  test('without konnectivity may have any host', () => {
    const tenant = changed(newTenantControlPlane('steward', 'green'), {
      'spec.addons.konnectivity': undefined,
    });

    expect(plan(tenant, { hosts: { api: 'green.example.test' }, port: 443 }).findings).toEqual([]);
  });

  test('that used Traefik reports the route that Steward does not delete', () => {
    const tenant = changed(newTenantControlPlane('steward', 'green'), {
      'spec.controlPlane.ingress.controllerType': 'traefik',
    });

    expect(plan(tenant).findings).toMatchObject([
      {
        code: 'HostClaimed',
        severity: 'warning',
        action: 'Delete it: kubectl delete -n tenants ingressroutetcp green',
      },
    ]);
  });
});
