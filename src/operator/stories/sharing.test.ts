import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createClient } from '../../kube/client/fetch-client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../exposure/finalizers.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { until } from '../testing/until.ts';

setDefaultTimeout(120_000);

function holder(proxies: KubeObject | undefined): string | undefined {
  return proxies?.metadata.annotations?.['snicket.dev/exposure'];
}

/** What Snicket brings to a tenant without nodes. */
const WHOLE = ['ConfigMap', 'DaemonSet', 'EndpointSlice', 'Endpoints', 'Secret', 'ServiceAccount'];

/** Which of it is there. */
function kindsIn({ server }: LabTenant): readonly string[] {
  const kinds = server.readAll().map(({ kind }) => kind);
  return WHOLE.filter((kind) => kinds.includes(kind));
}

function holderUid({ server }: LabTenant): string | undefined {
  const { annotations } = server.read(RESOURCES.daemonSet, PROXY)?.metadata ?? {};
  return annotations?.['snicket.dev/exposure-uid'];
}

describe.concurrent('two Exposures of one control plane', () => {
  test('do not fight over its proxies: the second is told whose they are', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const { server } = await lab.addExposed('blue');
    await lab.expose('copy', {}, 'blue');

    const said = await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);

    expect(said).toContain('those of Exposure tenants/blue');
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/blue');
    await lab.untilQuiet(6);
    const before = server.writes().length;
    await lab.untilLookedAt(6);
    expect(server.writes().length).toBe(before);
  });

  test('the second leaves without touching what is of the first', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    const before = server.writes().length;
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);
    // As if it had written there once, before the other one did.
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await lab.change(RESOURCES.exposure, 'copy', { metadata: { finalizers } });

    await lab.untilGone('copy');

    expect(server.writes().length).toBe(before);
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/blue');
  });

  test('the second takes over when the first is gone', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const { server } = tenant;
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'TenantReady', /^False TenantTaken/);

    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'TenantReady', /^True/);
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/copy');
    expect(kindsIn(tenant)).toEqual(WHOLE);
  });

  test('both at the same moment come to rest with one of them', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const { server } = await lab.addTenant('blue');

    await Promise.all([lab.expose('blue'), lab.expose('copy', {}, 'blue')]);

    const verdict = (name: string) => lab.condition(name, 'TenantReady') ?? '';
    await until('one has it', () => {
      const both = [verdict('blue'), verdict('copy')];
      return (
        both.some((text) => text.startsWith('True')) &&
        both.some((text) => text.startsWith('False TenantTaken'))
      );
    });
    await lab.untilQuiet(6);
    const winner = verdict('blue').startsWith('True') ? 'tenants/blue' : 'tenants/copy';
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe(winner);
  });
});

/** A second management cluster with an Exposure of the same name, of the same tenant. */
async function startRival(tenant: LabTenant): Promise<OperatorLab> {
  const rival = await OperatorLab.start({ resyncMs: 50, edge: { addresses: ['127.0.0.2'] } });
  rival.knows(tenant, 'blue');
  await rival.expose('blue');
  return rival;
}

describe.concurrent('two management clusters with one tenant', () => {
  test('do not fight over its proxies: they stay whose they were, and the second is told', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(tenant);

    const said = await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);

    const own = lab.exposure('blue')?.metadata.uid ?? 'none';
    expect(said).toContain(
      `those of Exposure tenants/blue of another management cluster (uid ${own})`,
    );
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    await Promise.all([lab.untilQuiet(6), rival.untilQuiet(6)]);
    expect(holderUid(tenant)).toBe(own);
  });

  test('the second does not try again when it starts anew', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 50 });
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);
    await rival.stopOperator();
    await lab.untilQuiet(6);
    const before = tenant.server.writes().length;

    rival.startOperator();

    await rival.untilLookedAt(6);
    expect(rival.condition('blue', 'TenantReady')).toMatch(/^False TenantHeldElsewhere/);
    expect(tenant.server.writes().length).toBe(before);
  });

  test('the second leaves without touching what is of the first', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    const own = holderUid(tenant);

    await rival.untilGone('blue');

    expect(holderUid(tenant)).toBe(own);
    expect(own).toBe(lab.exposure('blue')?.metadata.uid);
    await until('it is told', () => rival.eventsOf('blue').includes('TenantLeftBehind'));
  });

  test('the second takes over when the first is deleted', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);
    await lab.untilCondition('blue', 'TenantReady', /^True/);

    await lab.untilGone('blue');

    await rival.untilCondition('blue', 'TenantReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
    expect(kindsIn(tenant)).toEqual(WHOLE);
  });

  test('what the second wrote in between is put right, the key of the proxies too', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const key = () => tenant.server.read(RESOURCES.secret, PROXY);
    const before = key();

    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);

    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(holderUid(tenant)).toBe(lab.exposure('blue')?.metadata.uid);
    expect((key() as { data?: unknown }).data).toEqual((before as { data?: unknown }).data);
  });

  test('the first, back from a restart, has them again, though the second restarted too', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^True/);
    await rival.stopOperator();
    rival.startOperator();
    await rival.untilLookedAt(2);

    lab.startOperator();

    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(holderUid(tenant)).toBe(lab.exposure('blue')?.metadata.uid);
  });

  test('an Exposure here of the name that the other one has there is not taken for it', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await using rival = await OperatorLab.start({ resyncMs: 50 });
    await rival.addExposed('blue');
    rival.knows(tenant, 'green');

    await rival.expose('green');

    await rival.untilCondition('green', 'TenantReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('green')?.metadata.uid);
  });

  test('the second takes over at once from one that is gone', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();

    await using rival = await startRival(tenant);

    await rival.untilCondition('blue', 'TenantReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
  });

  test('the note taken off, as the finding says, gives the proxies to the second', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(tenant);
    await rival.untilCondition('blue', 'TenantReady', /^False TenantHeldElsewhere/);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    await lab.stopOperator();

    const metadata = { annotations: { 'snicket.dev/refused': null } };
    const user = createClient(tenant.server.access, { fieldManager: 'user' });
    await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { metadata });

    await rival.untilCondition('blue', 'TenantReady', /^True/);
    // What was written before, and undone, is not written again at once.
    await until('they are its own', () => {
      return holderUid(tenant) === rival.exposure('blue')?.metadata.uid;
    });
  });
});
