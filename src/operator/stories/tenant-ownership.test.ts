import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { DrivenClock } from '../../clock/testing/driven-clock.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { DEFAULT_LEASE_DURATION_MS, OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../../reconcile/finalizers.ts';
import type { OperatorOptions } from '../operator.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { objectOf } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { holderIn, identityIn, TenantWrites } from '../testing/tenant-writes.ts';

setDefaultTimeout(240_000);

/** The objects of Snicket in a tenant without nodes. */
const WHOLE = ['ConfigMap', 'DaemonSet', 'EndpointSlice', 'Endpoints', 'Secret', 'ServiceAccount'];

/** Which of it is there. */
function kindsIn({ server }: LabTenant): readonly string[] {
  const kinds = server.readAll().map(({ kind }) => kind);
  return WHOLE.filter((kind) => kinds.includes(kind));
}

describe.concurrent('two Exposures of one control plane', () => {
  test('do not fight over its proxies: the second is refused at once, with the name of the first', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addExposed('blue');
    const { server } = tenant;
    await lab.expose('copy', {}, 'blue');

    const condition = await lab.untilCondition(
      'copy',
      'WorkersReady',
      /^False ControlPlaneConflict/,
    );

    expect(condition).toContain('already managed by Exposure tenants/blue');
    expect(holderIn(tenant)).toBe(identityIn(lab));
    await lab.untilQuiet(6);
    const before = server.writes().length;
    await lab.untilReconciled(6);
    expect(server.writes().length).toBe(before);
  });

  test('the second is deleted without a change of the objects of the first', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const { server } = tenant;
    const before = server.writes().length;
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'WorkersReady', /^False ControlPlaneConflict/);
    // As if it had written there once, before the other one did.
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await lab.change(RESOURCES.exposure, 'copy', { metadata: { finalizers } });

    await lab.untilGone('copy');

    expect(server.writes().length).toBe(before);
    expect(holderIn(tenant)).toBe(identityIn(lab));
  });

  test('the second removes its finalizer without a conflict: the status follows in the same reconcile', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    await lab.stopOperator();
    await lab.expose('copy', {}, 'blue');
    // As if it had written there once, before the other one did.
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await lab.change(RESOURCES.exposure, 'copy', { metadata: { finalizers } });

    lab.startOperator();

    await lab.untilCondition('copy', 'WorkersReady', /^False ControlPlaneConflict/);
    expect(lab.exposure('copy')?.metadata.finalizers).toEqual([ROUTES_FINALIZER]);
    expect(lab.number('reconcile_conflicts_total', 'controller="exposure"')).toBe(0);
  });

  test('the second takes over when the first is deleted', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.expose('copy', {}, 'blue');
    await lab.untilCondition('copy', 'WorkersReady', /^False ControlPlaneConflict/);

    await lab.untilGone('blue');

    await lab.untilCondition('copy', 'WorkersReady', /^True/);
    expect(holderIn(tenant)).toBe(identityIn(lab, 'copy'));
    expect(kindsIn(tenant)).toEqual(WHOLE);
  });

  test('both created at the same time settle on one of them', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addTenant('blue');

    await Promise.all([lab.expose('blue'), lab.expose('copy', {}, 'blue')]);

    const state = (name: string) => lab.condition(name, 'WorkersReady') ?? '';
    await lab.until('one Exposure owns the tenant', () => {
      const both = [state('blue'), state('copy')];
      return (
        both.some((text) => text.startsWith('True')) &&
        both.some((text) => text.startsWith('False ControlPlaneConflict'))
      );
    });
    await lab.untilQuiet(6);
    const winner = state('blue').startsWith('True') ? 'blue' : 'copy';
    expect(holderIn(tenant)).toBe(identityIn(lab, winner));
  });
});

/** Everything that Snicket keeps in the tenant but the Lease, without what time changes. */
function contentsOf({ server }: LabTenant): readonly unknown[] {
  return server
    .readAll()
    .filter(({ kind }) => WHOLE.includes(kind))
    .map(({ metadata: { name, generation }, ...content }) => {
      return { name, generation, ...content, status: undefined };
    });
}

/** Two management clusters, each with an Exposure tenants/blue for the same tenant. */
class TwoClusters implements AsyncDisposable {
  readonly first: OperatorLab;
  readonly second: OperatorLab;
  readonly tenant: LabTenant;
  readonly writes: TenantWrites;

  private constructor(first: OperatorLab, second: OperatorLab, tenant: LabTenant) {
    this.first = first;
    this.second = second;
    this.tenant = tenant;
    this.writes = new TenantWrites(tenant);
  }

  /** Neither operator runs yet. */
  static async create(): Promise<TwoClusters> {
    const first = await OperatorLab.start({ isOperatorRunning: false });
    const edge = { addresses: ['127.0.0.2'] };
    const second = await OperatorLab.start({ edge, beside: first, isOperatorRunning: false });
    const tenant = await first.addTenant('blue');
    second.knows(tenant, 'blue');
    await first.expose('blue');
    await second.expose('blue');
    return new TwoClusters(first, second, tenant);
  }

  /** The first owns the tenant, and the second waits. */
  static async withOwner(): Promise<TwoClusters> {
    const clusters = await TwoClusters.create();
    const { first, second } = clusters;
    clusters.startOperator(first);
    await first.untilCondition('blue', 'WorkersReady', /^True/);
    clusters.startOperator(second);
    await second.untilCondition('blue', 'WorkersReady', /^False TenantOwnedElsewhere/);
    return clusters;
  }

  startOperator(lab: OperatorLab, options: Partial<OperatorOptions> = {}): void {
    lab.startOperator({ ...options, connectTenant: this.writes.connect(lab) });
  }

  async pass(ms: number): Promise<void> {
    await this.first.environment.pass(ms);
  }

  get nowMs(): number {
    return this.first.environment.clock.nowMs();
  }

  /** Fails every request of one operator, as a firewall would. */
  async cutOff(lab: OperatorLab, whileCut: () => Promise<void>): Promise<void> {
    this.writes.cutOff.add(lab);
    this.tenant.server.endWatches();
    await whileCut();
    this.writes.cutOff.delete(lab);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.second[Symbol.asyncDispose]();
    await this.first[Symbol.asyncDispose]();
  }
}

describe.concurrent('two management clusters with one tenant', () => {
  test('the second waits, names the owner and the end of its Lease, and writes nothing', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    const before = contentsOf(tenant);

    const { clock } = first.environment;
    const message = second.condition('blue', 'WorkersReady') ?? '';
    const cluster = identityIn(first).split('/')[0];
    expect(message).toContain(`owned by Exposure tenants/blue of management cluster ${cluster}`);
    const expiresMs = Date.parse(/expires at (\S+)/.exec(message)?.[1] ?? '');
    expect(expiresMs - clock.now().getTime()).toBeGreaterThan(0);
    expect(expiresMs - clock.now().getTime()).toBeLessThanOrEqual(DEFAULT_LEASE_DURATION_MS);
    await clusters.pass(2 * DEFAULT_LEASE_DURATION_MS);

    expect(second.condition('blue', 'WorkersReady')).toMatch(/^False TenantOwnedElsewhere/);
    expect(first.condition('blue', 'WorkersReady')).toMatch(/^True/);
    expect(holderIn(tenant)).toBe(identityIn(first));
    expect(contentsOf(tenant)).toEqual(before);
    expect(writes.of(second)).toEqual([]);
    expect(writes.byOthers()).toEqual([]);
  });

  test('the owner renews with one write every five minutes, and writes nothing else', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, writes } = clusters;
    await clusters.pass(60_000);
    const before = writes.all.length;

    await clusters.pass(3_600_000);

    const written = writes.all.slice(before);
    expect(
      written.every(({ by, verb, kind }) => by === first && verb === 'replace' && kind === 'Lease'),
    ).toBe(true);
    // Every five minutes, 10 % sooner or later.
    expect(written.length).toBeGreaterThanOrEqual(10);
    expect(written.length).toBeLessThanOrEqual(14);
  });

  test('the second takes over when the Lease has expired and not before, with its own key and edge', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    const secret = () => JSON.stringify(tenant.server.read(RESOURCES.secret, PROXY));
    const before = secret();
    const stoppedMs = clusters.nowMs;
    await first.stopOperator();

    await second.untilCondition('blue', 'WorkersReady', /^True/);

    const tookMs = clusters.nowMs - stoppedMs;
    // The last renewal was at most a third of the duration before, and was seen within a minute.
    expect(tookMs).toBeGreaterThan((DEFAULT_LEASE_DURATION_MS * 2) / 3 - 60_000);
    expect(tookMs).toBeLessThan(DEFAULT_LEASE_DURATION_MS + 120_000);
    expect(holderIn(tenant)).toBe(identityIn(second));
    expect(secret()).not.toBe(before);
    expect(JSON.stringify(tenant.server.readAll())).toContain('127.0.0.2');
    expect(writes.byOthers()).toEqual([]);
  });

  test('the first, cut off for longer than the Lease, comes back, yields and deletes nothing', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    await clusters.cutOff(first, async () => {
      await second.untilCondition('blue', 'WorkersReady', /^True/);
    });
    const before = contentsOf(tenant);

    await first.untilCondition('blue', 'WorkersReady', /^False TenantOwnedElsewhere/);
    await first.untilGone('blue');

    expect(contentsOf(tenant)).toEqual(before);
    expect(holderIn(tenant)).toBe(identityIn(second));
    expect(second.condition('blue', 'WorkersReady')).toMatch(/^True/);
    expect(writes.byOthers()).toEqual([]);
  });

  test('of both at once exactly one wins, and the other writes nothing', async () => {
    await using clusters = await TwoClusters.create();
    const { first, second, tenant, writes } = clusters;

    clusters.startOperator(first);
    clusters.startOperator(second);

    const conditions = () => [first, second].map((lab) => lab.condition('blue', 'WorkersReady'));
    await first.until('one Exposure waits, and the other is Ready', () => {
      const states = conditions().map((text) => text?.split(':')[0] ?? '');
      return states.toSorted().join(', ').startsWith('False TenantOwnedElsewhere, True');
    });
    const winner = conditions()[0]?.startsWith('True') === true ? first : second;
    expect(holderIn(tenant)).toBe(identityIn(winner));
    await clusters.pass(3_600_000);
    expect(holderIn(tenant)).toBe(identityIn(winner));
    expect(writes.byOthers()).toEqual([]);
  });

  test('the owner renews at once after a restart, without a rollout', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, tenant, writes } = clusters;
    await first.stopOperator();
    await clusters.pass(600_000);
    const before = contentsOf(tenant);
    const count = writes.of(first).length;
    const startedMs = clusters.nowMs;

    clusters.startOperator(first);

    await first.until('the Lease is renewed', () => writes.of(first).length > count);
    expect(clusters.nowMs - startedMs).toBeLessThan(5_000);
    await first.untilReconciled(2);
    expect(writes.of(first).slice(count)).toMatchObject([{ verb: 'replace', kind: 'Lease' }]);
    expect(contentsOf(tenant)).toEqual(before);
  });

  test('an owner whose Lease expires between two writes does not send the second', async () => {
    await using clusters = await TwoClusters.create();
    const { first, tenant, writes } = clusters;
    const { clock } = first.environment;
    if (!(clock instanceof DrivenClock)) throw new TypeError('the lab has no fake time');
    clusters.startOperator(first, { tenantTimeoutMs: DEFAULT_LEASE_DURATION_MS / 3 });
    await first.untilCondition('blue', 'WorkersReady', /^True/);
    const fault = { kind: 'error', status: 500, reason: 'InternalError' } as const;
    tenant.server.inject(fault, { verb: 'update', plural: 'leases' }, Infinity);
    await clusters.pass(DEFAULT_LEASE_DURATION_MS * (2 / 3) - 30_000);
    let sent: number | undefined;
    writes.onWrite = ({ kind }) => {
      if (kind !== 'EndpointSlice' || sent !== undefined) return;
      sent = writes.all.length;
      clock.advance(60_000);
    };

    await tenant.user.delete(RESOURCES.daemonSet, PROXY);
    await tenant.user.delete(RESOURCES.endpointSlice, KUBERNETES);

    await first.untilCondition('blue', 'WorkersReady', /^False TenantUnreachable.*leases/);
    const kinds = new Set(writes.all.slice(sent).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['Lease']));
    // That is no fault of the tenant.
    expect(JSON.stringify(first.log)).not.toContain('is not held');
    tenant.server.clearFaults();
    await first.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('a deleted Exposure that does not own the tenant removes nothing from it', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    const before = contentsOf(tenant);
    // As if it had owned the tenant, lost it, and had not noticed yet.
    await second.stopOperator();
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await second.change(RESOURCES.exposure, 'blue', { metadata: { finalizers } });
    await second.unexpose('blue');

    clusters.startOperator(second);

    await second.until('it is gone', () => second.exposure('blue') === undefined);
    expect(contentsOf(tenant)).toEqual(before);
    expect(holderIn(tenant)).toBe(identityIn(first));
    expect(writes.of(second)).toEqual([]);
    await second.until('an event says so', () =>
      second.eventsOf('blue').includes('CleanupIncomplete'),
    );
  });

  test('an expired Lease of another owner does not let a deleted Exposure clean up either', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    await Promise.all([first.stopOperator(), second.stopOperator()]);
    await clusters.pass(3 * 3_600_000);
    const before = contentsOf(tenant);
    const finalizers = [ROUTES_FINALIZER, TENANT_FINALIZER];
    await second.change(RESOURCES.exposure, 'blue', { metadata: { finalizers } });
    await second.unexpose('blue');

    clusters.startOperator(second);

    await second.until('it is gone', () => second.exposure('blue') === undefined);
    expect(contentsOf(tenant)).toEqual(before);
    expect(writes.of(second)).toEqual([]);
  });

  test('the owner releases the Lease last, and the second takes over within seconds', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    const deletedMs = clusters.nowMs;

    await first.untilGone('blue');

    expect(writes.of(first).at(-1)).toMatchObject({ verb: 'delete', kind: 'Lease' });
    await second.untilCondition('blue', 'WorkersReady', /^True/);
    expect(clusters.nowMs - deletedMs).toBeLessThan(60_000);
    expect(holderIn(tenant)).toBe(identityIn(second));
    expect(kindsIn(tenant)).toEqual(WHOLE);
    expect(writes.byOthers()).toEqual([]);
  });

  test('a Lease that an administrator deletes hands the tenant over within a minute or so', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant } = clusters;
    await first.stopOperator();
    const deletedMs = clusters.nowMs;

    await tenant.user.delete(RESOURCES.lease, OWNER_LEASE);

    await second.untilCondition('blue', 'WorkersReady', /^True/);
    expect(clusters.nowMs - deletedMs).toBeLessThan(90_000);
    expect(holderIn(tenant)).toBe(identityIn(second));
  });

  test('a Lease deleted under a running owner is noticed before its next write', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    await tenant.user.delete(RESOURCES.lease, OWNER_LEASE);
    await second.untilCondition('blue', 'WorkersReady', /^True/);

    await first.untilCondition('blue', 'WorkersReady', /^False TenantOwnedElsewhere/);

    expect(holderIn(tenant)).toBe(identityIn(second));
    expect(writes.byOthers()).toEqual([]);
  });

  test('a management cluster that replaces one lost hours ago does not wait', async () => {
    await using clusters = await TwoClusters.create();
    const { first, second, tenant } = clusters;
    clusters.startOperator(first);
    await first.untilCondition('blue', 'WorkersReady', /^True/);
    await first.stopOperator();
    await clusters.pass(3 * 3_600_000);
    const startedMs = clusters.nowMs;

    clusters.startOperator(second);

    await second.untilCondition('blue', 'WorkersReady', /^True/);
    expect(clusters.nowMs - startedMs).toBeLessThan(60_000);
    expect(holderIn(tenant)).toBe(identityIn(second));
  });

  test('an Exposure that is created again owns the tenant as before', async () => {
    await using clusters = await TwoClusters.withOwner();
    const { first, second, tenant, writes } = clusters;
    await first.stopOperator();
    // Without its finalizers, as a restore from a backup leaves it.
    await first.change(RESOURCES.exposure, 'blue', { metadata: { finalizers: [] } });
    await first.unexpose('blue');
    await first.expose('blue');

    clusters.startOperator(first);

    await first.untilCondition('blue', 'WorkersReady', /^True/);
    expect(holderIn(tenant)).toBe(identityIn(first));
    expect(second.condition('blue', 'WorkersReady')).toMatch(/^False TenantOwnedElsewhere/);
    expect(writes.byOthers()).toEqual([]);
  });
});

describe.concurrent('a Lease with contents that no owner wrote', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a duration of years', { leaseDurationSeconds: 2 ** 31 - 1 }],
    ['a renewal in the far future', { renewTime: '9999-01-01T00:00:00.000000Z' }],
    ['no times', { renewTime: undefined, acquireTime: undefined }],
    ['a holder as long as a book', { holderIdentity: 'x'.repeat(100_000) }],
    ['values of other types', { renewTime: 7, leaseDurationSeconds: 'long', leaseTransitions: {} }],
  ])('with %s is waited for within bounds', async (_what, spec) => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { server } = await lab.addTenant('blue');
    const valid = { holderIdentity: 'somebody', leaseDurationSeconds: 900 };
    const renewTime = lab.environment.clock.now().toISOString();
    const lease = { ...valid, renewTime, acquireTime: renewTime, ...spec };
    server.seed(objectOf('Lease', { ...OWNER_LEASE }, { spec: lease }));
    await lab.expose('blue');
    lab.startOperator();

    const message = await lab.untilCondition('blue', 'WorkersReady', /TenantOwnedElsewhere/);
    const { clock } = lab.environment;
    const startedMs = clock.nowMs();
    // A wait of a lab ends after an hour, and this one may take as long.
    await lab.environment.pass(300_000);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    expect(message.length).toBeLessThan(1_000);
    expect(clock.nowMs() - startedMs).toBeLessThanOrEqual(3_700_000);
  });
});
