import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { kubeconfigFor } from '../../providers/testing/provider-objects.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { secretOf } from '../testing/objects.ts';
import type { LabOptions, OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { addKamaji, REQUESTS_EDGE, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const KAMAJI = PROVIDER_RESOURCES.kamaji;
const API_HOST = 'tenants-blue.k8s.example.test';
const HOSTS = [API_HOST, 'tenants-blue.konnectivity.example.test'];
const CERTIFICATE = 'blue-api-server-certificate';
const KUBECONFIG = 'blue-admin-kubeconfig';

interface Event extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** A lab with a tenant of Kamaji, which is not annotated yet. */
async function startLab(
  options: LabOptions = {},
): Promise<{ readonly lab: OperatorLab; readonly tenant: LabTenant }> {
  const lab = await startProvidedLab({ resyncMs: 1_000, renewAfterMs: 50, ...options });
  return { lab, tenant: await addKamaji(lab, 'blue') };
}

/** A Secret with these files, which Kamaji has made. */
function make(lab: OperatorLab, name: string, files: Readonly<Record<string, string>>): void {
  const { uid = '' } = lab.read(KAMAJI, 'blue')!.metadata;
  const owner = { apiVersion: KAMAJI.apiVersion, kind: KAMAJI.kind, name: 'blue', uid };
  const key = { name, namespace: TENANTS };
  const ownerReferences = [{ ...owner, controller: true }];
  lab.management.seed({ ...secretOf(key, files), metadata: { ...key, ownerReferences } });
}

/** The same in place of the one that is there. */
async function remake(
  lab: OperatorLab,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await lab.user.delete(RESOURCES.secret, { name, namespace: TENANTS });
  make(lab, name, files);
}

async function certificateFor(...names: readonly string[]): Promise<Record<string, string>> {
  const authority = await TestAuthority.create('kubernetes');
  return { 'apiserver.crt': (await authority.issue({ names })).cert };
}

/** As in a namespace where the operator has no permission to delete Secrets. */
function forbidDeletion(lab: OperatorLab): void {
  const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
  const target = { verb: 'delete', plural: RESOURCES.secret.plural };
  lab.management.inject(refusal, target, Number.POSITIVE_INFINITY);
}

async function annotate(lab: OperatorLab, value: string | null): Promise<void> {
  await lab.change(KAMAJI, 'blue', { metadata: { annotations: { 'snicket.dev/edge': value } } });
}

function eventIn(lab: OperatorLab, kind: string, reason: string): Event | undefined {
  const events = lab.management.readAll().filter((object) => object.kind === 'Event');
  return (events as unknown as Event[]).find(
    (event) => event.reason === reason && event.regarding.kind === kind,
  );
}

function deletions(lab: OperatorLab): number {
  const writes = lab.management.writes();
  return writes.filter(({ verb, plural }) => verb === 'delete' && plural === 'secrets').length;
}

describe.concurrent('a certificate that Kamaji made before it had the hosts', () => {
  test('is the reason of Ready, with a command, while the tenant is reconciled', async () => {
    const { lab } = await startLab({ hasGateway: true, resyncMs: 100 });
    await using _lab = lab;
    forbidDeletion(lab);
    make(lab, CERTIFICATE, await certificateFor('blue.tenants.svc'));

    await annotate(lab, 'shared');

    const condition = await lab.untilCondition('blue', 'Prepared', /^False CertificateOutdated/);
    expect(condition).toContain(HOSTS.join(' and '));
    expect(condition).toContain(`kubectl delete -n tenants secret ${CERTIFICATE}`);
    expect(condition).toContain('ClusterRole snicket-renew-secrets');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.untilCondition('blue', 'Ready', /^False CertificateOutdated/);
    await lab.until('a delete was attempted', () => deletions(lab) > 0);
    await lab.untilReconciled(10);
    expect(deletions(lab)).toBe(1);
    expect(lab.read(RESOURCES.secret, CERTIFICATE)).toBeDefined();
  });

  test('is deleted where that is allowed, and Kamaji creates it again', async () => {
    const { lab } = await startLab();
    await using _lab = lab;
    make(lab, CERTIFICATE, await certificateFor('blue.tenants.svc'));

    await annotate(lab, 'shared');

    await lab.until('it is gone', () => lab.read(RESOURCES.secret, CERTIFICATE) === undefined);
    make(lab, CERTIFICATE, await certificateFor(...HOSTS));
    await lab.untilCondition('blue', 'Prepared', /^True/);
    const event = await lab.until('an event', () => eventIn(lab, 'Exposure', 'SecretRenewed'));
    expect(event.note).toContain(
      `Secret tenants/${CERTIFICATE} did not have the hosts of the edge and was deleted`,
    );
    await lab.untilReconciled(10);
    expect(deletions(lab)).toBe(1);
  });

  test('is never deleted with prepare: Report', async () => {
    const { lab } = await startLab();
    await using _lab = lab;
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'Prepared', /^True/);
    await lab.change(RESOURCES.exposure, 'blue', { spec: { prepare: 'Report' } });
    await lab.untilReconciled(3);

    make(lab, CERTIFICATE, await certificateFor('blue.tenants.svc'));

    const condition = await lab.untilCondition('blue', 'Prepared', /^False CertificateOutdated/);
    expect(condition).toContain(`kubectl delete -n tenants secret ${CERTIFICATE}`);
    expect(condition).not.toContain('snicket-renew-secrets');
    await lab.untilReconciled(10);
    expect(deletions(lab)).toBe(0);
  });
});

describe.concurrent('a kubeconfig of Kamaji', () => {
  test('with another server is deleted where that is allowed, unless a user has created it', async () => {
    const { lab, tenant } = await startLab();
    await using _lab = lab;
    const old = { 'admin.conf': kubeconfigFor('https://10.0.0.7:6443') };
    await lab.changeSecret(KUBECONFIG, old);
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'Prepared', /^True.*KubeconfigOutdated/s);
    await lab.untilReconciled(10);
    expect(deletions(lab)).toBe(0);

    await remake(lab, KUBECONFIG, { ...old, 'super-admin.svc': tenant.kubeconfig });

    await lab.until('it is gone', () => lab.read(RESOURCES.secret, KUBECONFIG) === undefined);
    make(lab, KUBECONFIG, {
      'admin.conf': kubeconfigFor(`https://${API_HOST}:443`),
      'super-admin.svc': tenant.kubeconfig,
    });
    await lab.untilCondition('blue', 'Prepared', /^True(?!.*KubeconfigOutdated)/s);
  });

  test.each([true, false])(
    'with the host of an edge is reported after cleanup; deleting allowed: %p',
    async (isAllowed) => {
      const { lab, tenant } = await startLab();
      await using _lab = lab;
      await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
      await remake(lab, KUBECONFIG, {
        'admin.conf': kubeconfigFor(`https://${API_HOST}:443`),
        'super-admin.svc': tenant.kubeconfig,
      });
      await annotate(lab, 'shared');
      await lab.untilCondition('blue', 'WorkersReady', /^True/);
      await lab.until('a proxy', () => lab.statusOf('blue')?.proxies?.desired === 1);
      if (!isAllowed) forbidDeletion(lab);

      await annotate(lab, null);

      await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
      const { note } = await lab.until('an event', () => eventIn(lab, KAMAJI.kind, 'EdgeRemoved'));
      expect(note).toContain(`${API_HOST} does not point to it`);
      expect(note).toContain('Workers that joined through it (1 node) lose their API server');
      const isThere = lab.read(RESOURCES.secret, KUBECONFIG) !== undefined;
      expect(isThere).toBe(!isAllowed);
      expect(note).toContain(
        isAllowed
          ? `Secret tenants/${KUBECONFIG} contained this host and was deleted`
          : `kubectl delete -n tenants secret ${KUBECONFIG}`,
      );
    },
  );

  test('with a host that the object had before is left alone', async () => {
    const { lab, tenant } = await startLab();
    await using _lab = lab;
    const hostname = 'blue.corp.example.test:443';
    await lab.change(KAMAJI, 'blue', { spec: { controlPlane: { ingress: { hostname } } } });
    await remake(lab, KUBECONFIG, {
      'admin.conf': kubeconfigFor(`https://${hostname}`),
      'super-admin.svc': tenant.kubeconfig,
    });
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const deleted = deletions(lab);

    await annotate(lab, null);

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(deletions(lab)).toBe(deleted);
    expect(eventIn(lab, KAMAJI.kind, 'EdgeRemoved')).toBeUndefined();
  });
});

test('an Exposure of an annotation is created again after a deletion, and an event says why', async () => {
  await using lab = await startProvidedLab();
  await addKamaji(lab, 'blue', { 'metadata.annotations': REQUESTS_EDGE });
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  const { uid } = lab.exposure('blue')!.metadata;

  await lab.unexpose('blue');

  const event = await lab.until('an event', () => eventIn(lab, KAMAJI.kind, 'ExposureReturns'));
  expect(event.note).toContain(
    'annotation snicket.dev/edge. Remove the annotation to delete the Exposure',
  );
  await lab.until(
    'another Exposure',
    () => ![undefined, uid].includes(lab.exposure('blue')?.metadata.uid),
  );

  await annotate(lab, null);

  await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
  expect(lab.eventsOf('blue').filter((reason) => reason === 'ExposureReturns')).toHaveLength(1);
});
