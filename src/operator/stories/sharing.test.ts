import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../exposure/finalizers.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

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
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server } = await lab.addExposed('blue');
    await lab.expose('copy', {}, 'blue');

    const said = await lab.untilCondition('copy', 'WorkersReady', /^False TenantTaken/);

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
    await lab.untilCondition('copy', 'WorkersReady', /^False TenantTaken/);
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
    await lab.untilCondition('copy', 'WorkersReady', /^False TenantTaken/);

    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'WorkersReady', /^True/);
    expect(holder(server.read(RESOURCES.daemonSet, PROXY))).toBe('tenants/copy');
    expect(kindsIn(tenant)).toEqual(WHOLE);
  });

  test('both at the same moment come to rest with one of them', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server } = await lab.addTenant('blue');

    await Promise.all([lab.expose('blue'), lab.expose('copy', {}, 'blue')]);

    const verdict = (name: string) => lab.condition(name, 'WorkersReady') ?? '';
    await lab.until('one has it', () => {
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
async function startRival(
  lab: OperatorLab,
  tenant: LabTenant,
  askMs?: number,
): Promise<OperatorLab> {
  const edge = { addresses: ['127.0.0.2'] };
  const rival = await OperatorLab.start({ resyncMs: 1_000, edge, askMs, beside: lab });
  rival.knows(tenant, 'blue');
  await rival.expose('blue');
  return rival;
}

/** For a question that nobody is there to answer. */
const SHORT_MS = 300;

/** All that Snicket has brought, but for what is said of whose it is. */
function broughtTo({ server }: LabTenant): readonly unknown[] {
  return server
    .readAll()
    .filter(({ kind }) => WHOLE.includes(kind))
    .map(({ metadata: { name, generation }, ...content }) => {
      return { name, generation, ...content, status: undefined };
    });
}

describe.concurrent('two management clusters with one tenant', () => {
  test('do not fight over its proxies: the second asks, is refused, and has changed nothing', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addExposed('blue');
    await lab.untilQuiet(6);
    const before = broughtTo(tenant);
    await using rival = await startRival(lab, tenant);

    const said = await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);

    const own = lab.exposure('blue')?.metadata.uid ?? 'none';
    expect(said).toContain(`those of Exposure tenants/blue with uid ${own}`);
    await Promise.all([lab.untilQuiet(6), rival.untilQuiet(6)]);
    expect(holderUid(tenant)).toBe(own);
    expect(broughtTo(tenant)).toEqual(before);
    expect(lab.condition('blue', 'WorkersReady')).toMatch(/^True/);
  });

  test('the second does not ask again when it starts anew', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(lab, tenant);
    await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    await rival.stopOperator();
    await lab.untilQuiet(6);
    const before = tenant.server.writes().length;

    rival.startOperator();

    await rival.untilLookedAt(6);
    expect(tenant.server.writes().length).toBe(before);
  });

  test('the second leaves without touching what is of the first', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(lab, tenant);
    await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    const before = broughtTo(tenant);
    // As if it had written there once, before the other one did.
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await rival.change(RESOURCES.exposure, 'blue', { metadata: { finalizers } });

    await rival.untilGone('blue');

    expect(broughtTo(tenant)).toEqual(before);
    expect(holderUid(tenant)).toBe(lab.exposure('blue')?.metadata.uid);
    await lab.until('it is told', () => rival.eventsOf('blue').includes('TenantLeftBehind'));
  });

  test('whoever lost the tenant while it was cut off touches nothing there when it leaves', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const before = broughtTo(tenant);
    // Its watch ends, and tells nothing of the name that is written meanwhile.
    const ofProxies = { plural: RESOURCES.daemonSet.plural };
    for (const verb of ['list', 'watch'] as const) {
      tenant.server.inject(
        { kind: 'answer', status: 503, reason: 'ServiceUnavailable' },
        { verb, ...ofProxies },
        Infinity,
      );
    }
    tenant.server.endWatches();
    const annotations = { 'snicket.dev/exposure-uid': 'the-uid-of-another' };
    const user = tenant.server.client({ fieldManager: 'user' });
    await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { metadata: { annotations } });

    await lab.untilGone('blue');

    expect(broughtTo(tenant)).toEqual(before);
    await lab.until('it is told', () => lab.eventsOf('blue').includes('TenantLeftBehind'));
  });

  test('the second takes over when the first is deleted', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(lab, tenant);
    await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.untilGone('blue');

    await rival.untilCondition('blue', 'WorkersReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
    expect(kindsIn(tenant)).toEqual(WHOLE);
  });

  test('the first, back from a restart in time, answers then', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await using rival = await startRival(lab, tenant);
    const asked = await rival.untilCondition('blue', 'WorkersReady', /^False TenantAskedFor/);
    expect(asked).toContain('has until');
    // The question is on the proxies: whoever asked may be started anew too.
    await rival.stopOperator();
    rival.startOperator();

    lab.startOperator();

    await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    expect(holderUid(tenant)).toBe(lab.exposure('blue')?.metadata.uid);
  });

  test('the first, back too late, is the one that is refused', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await using rival = await startRival(lab, tenant, SHORT_MS);
    await rival.untilCondition('blue', 'WorkersReady', /^True/);

    lab.startOperator();

    await lab.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
  });

  test('the second brings all of it where nobody answers, its key and edge included', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    const key = () => JSON.stringify(tenant.server.read(RESOURCES.secret, PROXY));
    const before = key();

    await using rival = await startRival(lab, tenant, SHORT_MS);

    await rival.untilCondition('blue', 'WorkersReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
    expect(key()).not.toBe(before);
    const proxies = JSON.stringify(tenant.server.read(RESOURCES.daemonSet, PROXY));
    const config = JSON.stringify(tenant.server.read(RESOURCES.configMap, PROXY));
    expect(config).toContain('127.0.0.2');
    expect(proxies).not.toContain('snicket.dev/asked-by');
  });

  test('an Exposure here of the name that the other one has there is not taken for it', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await using rival = await OperatorLab.start({
      resyncMs: 1_000,
      askMs: SHORT_MS,
      beside: lab,
    });
    await rival.addExposed('blue');
    rival.knows(tenant, 'green');

    await rival.expose('green');

    await rival.untilCondition('green', 'WorkersReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('green')?.metadata.uid);
  });

  test('the note taken off, as the finding says, lets the second ask again', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await using rival = await startRival(lab, tenant);
    await rival.untilCondition('blue', 'WorkersReady', /^False TenantHeldElsewhere/);
    await lab.stopOperator();
    await rival.stopOperator();
    rival.startOperator({ askMs: SHORT_MS });

    const metadata = { annotations: { 'snicket.dev/refused': null } };
    const user = tenant.server.client({ fieldManager: 'user' });
    await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { metadata });

    await rival.untilCondition('blue', 'WorkersReady', /^True/);
    expect(holderUid(tenant)).toBe(rival.exposure('blue')?.metadata.uid);
  });
});
