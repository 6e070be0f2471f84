import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { kamaji } from './kamaji.ts';
import { pasteText, planPreparations } from './preparation/plan-preparation.ts';
import type { PreparationSpec } from './preparation/preparation.ts';
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
const AUTHORITY = secretOf('blue-ca', {
  'ca.crt': CA.certificate,
  'ca.key': CA.key,
  'tls.crt': CA.certificate,
  'tls.key': CA.key,
});
const KUBECONFIG = secretOf('blue-admin-kubeconfig', {
  'admin.conf': kubeconfigFor('https://blue.k8s.example.test:443'),
  'super-admin.conf': kubeconfigFor('https://blue.k8s.example.test:443'),
  'super-admin.svc': kubeconfigFor('https://blue.tenants.svc:6443'),
});
const SERVICE = serviceOf('blue', { 'kube-apiserver': 6443, 'konnectivity-server': 8132 });
const SERVING = secretOf('blue-api-server-certificate', { 'apiserver.crt': 'a certificate' });
const EVERYTHING = [AUTHORITY, KUBECONFIG, SERVICE, SERVING];

const SPEC: PreparationSpec = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

async function read(object: KubeObject, others: readonly KubeObject[] = EVERYTHING) {
  return kamaji.read(object, objectsFrom(others));
}

function codes(findings: readonly { readonly code: string }[]): readonly string[] {
  return findings.map(({ code }) => code);
}

describe('a tenant of Kamaji', () => {
  test('that is running is read completely', async () => {
    const tenant = readyTenantControlPlane('kamaji', 'blue');

    const { controlPlane, kubeconfig, provided, ...rest } = await read(tenant);

    expect(controlPlane).toEqual({
      service: {
        name: 'blue',
        api: { port: 6443, portName: 'kube-apiserver' },
        konnectivity: { port: 8132, portName: 'konnectivity-server' },
      },
      ca: { certificate: `${CA.certificate.trim()}\n`, key: CA.key },
    });
    expect(kubeconfig).toContain('server: https://blue.tenants.svc:6443\n');
    expect(rest).toEqual({ addresses: ['10.96.100.215:6443'], findings: [] });
    expect(provided).toEqual({
      provider: 'kamaji',
      objects: [tenant],
      phase: 'serving',
      version: 'v1.35.7',
      phaseReason: 'its version is Ready, and 2 of its pods are ready',
      serviceCidrs: ['10.96.0.0/16'],
      clusterDomain: 'cluster.local',
      hasKonnectivity: true,
      publishedServer: 'https://blue.k8s.example.test:443',
      servingCertificate: 'a certificate',
      names: expect.objectContaining({
        service: 'blue',
        ports: { api: 6443, konnectivity: 8132 },
      }),
    });
  });

  test('that was just created is reported with each missing part', async () => {
    const reading = await read(newTenantControlPlane('kamaji', 'blue'), []);

    expect(reading.controlPlane).toBeUndefined();
    expect(reading.provided?.phase).toBe('provisioning');
    expect(reading.findings).toEqual([
      {
        code: 'ServiceMissing',
        severity: 'error',
        message: 'Kamaji has not created Service tenants/blue.',
        action:
          'Wait for Kamaji (its version is not reported yet, and 0 of its pods are ready). If this persists, check the status of TenantControlPlane tenants/blue and the log of Kamaji.',
      },
      expect.objectContaining({ message: 'Secret tenants/blue-ca does not exist.' }),
      expect.objectContaining({ message: 'Secret tenants/blue-admin-kubeconfig does not exist.' }),
    ]);
  });

  test('has a route and a finding before konnectivity has its port', async () => {
    const service = serviceOf('blue', { 'kube-apiserver': 6443 });

    const { controlPlane, findings } = await read(readyTenantControlPlane('kamaji', 'blue'), [
      ...[AUTHORITY, KUBECONFIG, service],
    ]);

    expect(controlPlane?.service.api.port).toBe(6443);
    expect(findings.map(({ message }) => message)).toEqual([
      "Service tenants/blue has no port 'konnectivity-server' (it has kube-apiserver 6443).",
    ]);
  });

  test('without konnectivity has no konnectivity route, whatever its ports', async () => {
    const tenant = changed(readyTenantControlPlane('kamaji', 'blue'), {
      'spec.addons.konnectivity': undefined,
    });

    const { controlPlane, findings } = await read(tenant);

    expect(controlPlane?.service.konnectivity).toBeUndefined();
    expect(findings).toEqual([]);
  });

  test('with an external CA is read without the key, with a warning', async () => {
    const ca = secretOf('blue-ca', { 'ca.crt': CA.certificate });

    const { controlPlane, findings } = await read(readyTenantControlPlane('kamaji', 'blue'), [
      ...[ca, KUBECONFIG, SERVICE],
    ]);

    expect(controlPlane?.ca).toEqual({ certificate: `${CA.certificate.trim()}\n`, key: undefined });
    expect(findings).toMatchObject([{ code: 'CaKeyMissing', severity: 'warning' }]);
    expect(findings[0]?.message).toContain(
      "Secret tenants/blue-ca has the certificate of the CA but no 'ca.key'.",
    );
  });

  test('with an invalid kubeconfig reports it without quoting its content', async () => {
    const secret = secretOf('blue-admin-kubeconfig', { 'super-admin.svc': 'hunter2: [' });

    const { kubeconfig, findings } = await read(readyTenantControlPlane('kamaji', 'blue'), [
      ...[AUTHORITY, secret, SERVICE],
    ]);

    expect(kubeconfig).toBeUndefined();
    expect(findings).toMatchObject([{ code: 'KubeconfigInvalid' }]);
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });

  test('with an empty kubeconfig reports it', async () => {
    const secret = secretOf('blue-admin-kubeconfig', { 'super-admin.svc': '' });

    const { findings } = await read(readyTenantControlPlane('kamaji', 'blue'), [
      ...[AUTHORITY, secret, SERVICE],
    ]);

    expect(findings).toMatchObject([
      {
        code: 'SecretInvalid',
        message: "Entry 'super-admin.svc' of Secret tenants/blue-admin-kubeconfig is empty.",
      },
    ]);
  });

  test.each([
    ['Ready', 2, 'serving'],
    ['Upgrading', 1, 'serving'],
    ['WriteLimited', 1, 'serving'],
    ['Ready', 0, 'unavailable'],
    ['NotReady', 0, 'unavailable'],
    ['Sleeping', 0, 'unavailable'],
    ['Migrating', 2, 'unavailable'],
    ['CertificateAuthorityRotating', 2, 'unavailable'],
    ['Provisioning', 0, 'provisioning'],
  ])('that is %s with %d ready pods is %s', async (status, readyReplicas, phase) => {
    const tenant = changed(readyTenantControlPlane('kamaji', 'blue'), {
      'status.kubernetesResources.version.status': status,
      'status.kubernetesResources.deployment.readyReplicas': readyReplicas,
    });

    expect((await read(tenant)).provided).toMatchObject({ phase });
  });

  test('of newer versions may have several service networks, and the first one is used', async () => {
    const serviceCidrs = ['10.100.0.0/16', 'fd00::/108'];
    const tenant = changed(readyTenantControlPlane('kamaji', 'blue'), {
      'spec.networkProfile.serviceCidrs': serviceCidrs,
    });

    expect((await read(tenant)).provided?.serviceCidrs).toEqual(serviceCidrs);
  });
});

function plan(object: KubeObject, spec: PreparationSpec = SPEC) {
  const [found] = planPreparations(
    [object],
    (bases) => kamaji.prepare(bases, spec),
    ownerFor('blue'),
  );
  if (found === undefined) throw new Error('one object has one plan');
  return found;
}

describe('a tenant of Kamaji behind an edge', () => {
  test('has the host with its port, both certificate names, no endpoint reconciler, and agents at the edge', () => {
    const found = plan(newTenantControlPlane('kamaji', 'blue'));

    expect(found.findings).toEqual([]);
    expect(pasteText(found)).toBe(`apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata:
  name: blue
  namespace: tenants
spec:
  controlPlane:
    ingress:
      hostname: blue.k8s.example.test:443
      ingressClassName: snicket-unhandled
    deployment:
      extraArgs:
        apiServer:
          - --endpoint-reconciler-type=none
  networkProfile:
    certSANs:
      - blue.k8s.example.test
      - blue.konnectivity.example.test
  addons:
    konnectivity:
      agent:
        extraArgs:
          - --proxy-server-host=blue.konnectivity.example.test
          - --proxy-server-port=443
`);
  });

  test('without konnectivity gets no field that would enable it', () => {
    const tenant = changed(newTenantControlPlane('kamaji', 'blue'), {
      'spec.addons.konnectivity': undefined,
    });

    const text = pasteText(plan(tenant, { hosts: { api: 'blue.k8s.example.test' }, port: 443 }));

    expect(text).not.toContain('addons');
    expect(text).not.toContain('konnectivity');
  });

  test("keeps the user's entries in lists, except another value of the same flag", () => {
    const tenant = changed(newTenantControlPlane('kamaji', 'blue'), {
      'spec.controlPlane.deployment.extraArgs.apiServer': [
        '--audit-log-path=-',
        '--endpoint-reconciler-type=lease',
        '--v=2',
      ],
      'spec.networkProfile.certSANs': ['api.corp.example.test', 'blue.k8s.example.test'],
    });

    const wanted = Object.fromEntries(
      plan(tenant).fields.map(({ path, wanted: value }) => [path.at(-1), value]),
    );

    expect(wanted['apiServer']).toEqual([
      '--audit-log-path=-',
      '--endpoint-reconciler-type=none',
      '--v=2',
    ]);
    expect(wanted['certSANs']).toEqual([
      'api.corp.example.test',
      'blue.k8s.example.test',
      'blue.konnectivity.example.test',
    ]);
  });

  test.each([
    [
      'a port in a name of the certificate',
      { 'spec.networkProfile.certSANs': ['blue.k8s.example.test:443'] },
      'FieldInvalid',
      'Field spec.networkProfile.certSANs of TenantControlPlane tenants/blue contains "blue.k8s.example.test:443", but names in certificates have no port.',
    ],
    [
      'a name instead of an address',
      { 'spec.networkProfile.address': 'blue.k8s.example.test' },
      'FieldInvalid',
      'spec.networkProfile.address of TenantControlPlane tenants/blue is "blue.k8s.example.test"',
    ],
    [
      'an additional Gateway',
      { 'spec.controlPlane.gateway': { hostname: 'blue.k8s.example.test' } },
      'ProviderFeatureConflict',
      'has spec.controlPlane.gateway',
    ],
    [
      'an object that is being deleted',
      { 'metadata.deletionTimestamp': '2026-11-16T08:00:00Z' },
      'ControlPlaneMissing',
      'TenantControlPlane tenants/blue is being deleted',
    ],
  ])('is rejected for %s', (_, fields, code, message) => {
    const { findings } = plan(changed(newTenantControlPlane('kamaji', 'blue'), fields));

    expect(findings).toMatchObject([{ code, severity: 'error' }]);
    expect(findings[0]?.message).toContain(message);
  });

  test.each([
    [{ api: 'a.example.test', konnectivity: 'a.example.test' }, ['FieldInvalid']],
    [{ api: 'a.example.test' }, ['HostMissing']],
    [{ api: 'a.example.test:443', konnectivity: 'b.example.test' }, ['FieldInvalid']],
    [{ api: '192.0.2.1', konnectivity: 'b.example.test' }, ['FieldInvalid']],
  ])('rejects the hosts %j', (hosts, expected) => {
    const { findings } = plan(newTenantControlPlane('kamaji', 'blue'), { hosts, port: 443 });

    expect(codes(findings)).toEqual(expected);
  });

  test('is written with a warning if it is paused or has a separate address', () => {
    const tenant = changed(newTenantControlPlane('kamaji', 'blue'), {
      'metadata.annotations': { 'kamaji.clastix.io/paused': 'true' },
      'spec.controlPlane.service.serviceType': 'LoadBalancer',
    });

    const { findings } = plan(tenant);

    expect(codes(findings)).toEqual(['ControlPlaneInactive', 'ServiceTypeNotNeeded']);
    expect(findings.every(({ severity }) => severity === 'warning')).toBe(true);
  });
});
