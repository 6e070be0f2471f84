import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { RESOURCES } from '../../kube/resource.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import { PROXY, PROXY_CONFIG } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { fileIn, objectOf } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const OPTIONS = { edge: LAB_EDGES.traefik.spec, resyncMs: 1_000 };

function leafOf({ server }: LabTenant): string {
  return fileIn(server.read(RESOURCES.secret, PROXY), 'tls.crt');
}

function namesOf(leaf: string): readonly string[] {
  const names = new X509Certificate(leaf).subjectAltName?.split(', ') ?? [];
  return names.map((name) => name.replace('IP Address:', '').replace('DNS:', ''));
}

function isBy(ca: string, leaf: string): boolean {
  const authority = new X509Certificate(ca);
  const certificate = new X509Certificate(leaf);
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

describe.concurrent('the certificate of proxies that terminate TLS', () => {
  test("is signed by the tenant's CA, for the names that pods use for their API", async () => {
    await using lab = await OperatorLab.start(OPTIONS);

    const tenant = await lab.addExposed('blue');

    const leaf = leafOf(tenant);
    expect(isBy(tenant.authority.certificate, leaf)).toBe(true);
    expect(namesOf(leaf)).toEqual([
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ...['kubernetes.default.svc.cluster.local', '10.96.0.1'],
    ]);
    const { notAfter, authority } = lab.statusOf('blue')!.certificate!;
    expect(Date.parse(notAfter)).toBe(Date.parse(new X509Certificate(leaf).validTo));
    expect(authority).toMatch(/\S{32,}/);
    const key = fileIn(tenant.server.read(RESOURCES.secret, PROXY), 'tls.key');
    expect(key).not.toContain(tenant.authority.key);
  });

  test('stays the same while nothing else changes, also across a restart', async () => {
    await using lab = await OperatorLab.start(OPTIONS);
    const tenant = await lab.addExposed('blue');
    const leaf = leafOf(tenant);

    await lab.untilReconciled(5);
    await lab.stopOperator();
    lab.startOperator();
    await lab.untilReconciled(5);

    expect(leafOf(tenant)).toBe(leaf);
  });

  test('is issued again when the CA changes, and so is the CA that proxies trust', async () => {
    await using lab = await OperatorLab.start(OPTIONS);
    const tenant = await lab.addExposed('blue');
    const before = lab.statusOf('blue')!.certificate!;
    const next = await makeCa();
    // The one before is trusted for as long as the API server has a certificate by it.
    const both = `${next.certificate}${tenant.authority.certificate}`;

    await lab.changeSecret('blue-ca', { 'tls.crt': both, 'tls.key': next.key });

    await lab.until('a leaf by the new CA', () => isBy(next.certificate, leafOf(tenant)));
    const trusted = () =>
      (tenant.server.read(RESOURCES.configMap, PROXY_CONFIG) as { data?: Record<string, string> })
        .data?.['ca.crt'];
    expect(trusted()).toBe(both);
    await lab.until(
      'the status',
      () => lab.statusOf('blue')?.certificate?.authority !== before.authority,
    );
  });

  test('is issued again when the names change', async () => {
    await using lab = await OperatorLab.start(OPTIONS);
    const tenant = await lab.addExposed('blue');
    const kubernetes = { name: 'kubernetes', namespace: 'default' };

    await tenant.user.patch(RESOURCES.service, kubernetes, 'merge', {
      spec: { clusterIPs: ['10.96.0.1', 'fd00::1'] },
    });

    await lab.until('a leaf for both addresses', () =>
      namesOf(leafOf(tenant)).includes('FD00:0:0:0:0:0:0:1'),
    );

    const config = { name: 'kubeadm-config', namespace: 'kube-system' };
    const data = { ClusterConfiguration: 'networking:\n  dnsDomain: tenant.test\n' };
    await tenant.user.create(RESOURCES.configMap, objectOf('ConfigMap', config, { data }));

    await lab.until('a leaf for the other domain', () =>
      namesOf(leafOf(tenant)).includes('kubernetes.default.svc.tenant.test'),
    );

    await lab.expose('blue', {
      controlPlane: {
        type: 'Service',
        service: { name: 'blue', apiPort: tenant.port },
        caSecretRef: { name: 'blue-ca' },
        kubeconfigSecretRef: { name: 'blue-kubeconfig' },
        clusterDomain: 'said.test',
      },
    });

    await lab.until('a leaf for the domain that the Exposure says', () =>
      namesOf(leafOf(tenant)).includes('kubernetes.default.svc.said.test'),
    );
  });

  test('is never signed by the CA of another tenant, whichever Secret an Exposure names', async () => {
    await using lab = await OperatorLab.start(OPTIONS);
    const victim = await lab.addTenant('victim');
    const thief = await lab.addTenant('thief');
    const desired = (kubeconfig: string) => ({
      controlPlane: {
        type: 'Service',
        service: { name: 'thief', apiPort: thief.port },
        caSecretRef: { name: 'victim-ca' },
        kubeconfigSecretRef: { name: kubeconfig },
      },
    });

    await lab.expose('thief', desired('thief-kubeconfig'));

    const condition = await lab.untilCondition('thief', 'Prepared', /^False CaMismatch/);
    expect(condition).toContain('that is not in Secret tenants/victim-ca');
    await lab.untilCondition('thief', 'WorkersReady', /^False CaMismatch/);
    expect(thief.server.read(RESOURCES.secret, PROXY)).toBeUndefined();

    const both = `${thief.server.ca}${victim.server.ca}`;
    const kubeconfig = thief.kubeconfig.replace(
      /(certificate-authority-data: ).*/,
      `$1${Buffer.from(both).toString('base64')}`,
    );
    await lab.changeSecret('thief-kubeconfig', { 'admin.conf': kubeconfig });
    await lab.untilReconciled(3);

    expect(lab.condition('thief', 'WorkersReady')).toStartWith('False CaMismatch');
    expect(thief.server.read(RESOURCES.secret, PROXY)).toBeUndefined();
  });

  test('is issued again when another client corrupts it', async () => {
    await using lab = await OperatorLab.start(OPTIONS);
    const tenant = await lab.addExposed('blue');

    const spoiled = { data: { 'tls.crt': Buffer.from('nothing').toString('base64') } };
    await tenant.user.patch(RESOURCES.secret, PROXY, 'merge', spoiled);

    await lab.until('a valid certificate', () => leafOf(tenant).includes('BEGIN CERTIFICATE'));
    expect(isBy(tenant.authority.certificate, leafOf(tenant))).toBe(true);
  });
});
