import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ExposureStatus } from '../../api/exposure.ts';
import type { ApplyOptions, KubeClient, WriteOptions } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { createLogger } from '../../telemetry/log.ts';
import type { OperatorOptions } from '../operator.ts';
import { electedOperator, LEASE_NAME } from '../run-operator.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

/** Two thirds of the duration of the Lease, 15 seconds. */
const RENEW_DEADLINE_MS = 10_000;

type Logged = Readonly<Record<string, unknown>>;

/** An operator that takes part in the election, with its own client. */
function replica(
  lab: OperatorLab,
  identity: string,
  client: KubeClient,
  options: Partial<OperatorOptions> = {},
) {
  const logged: Logged[] = [];
  const write = (line: string) => logged.push(JSON.parse(line) as Logged);
  const log = createLogger({ level: 'debug', write });
  const { operator, election, run } = electedOperator({
    client,
    namespace: SYSTEM_NAMESPACE,
    identity,
    log,
    proxyImage: 'snicket.test/snicket:1',
    lookup: async () => ['127.0.0.1'],
    ...lab.environment.operatorOptions,
    ...options,
  });
  const end = new AbortController();
  const running = settled(run(end.signal));
  const stop = async () => {
    end.abort();
    await lab.settled(`${identity} has ended`, running);
  };
  return { operator, election, logged, running, stop };
}

/** A process that stops in the middle of a write, and goes on later. */
class Pause {
  /** The results of writes that were sent after {@link end}. */
  readonly results: Promise<unknown>[] = [];
  #isArmed = false;
  #isPaused = false;
  readonly #ended = Promise.withResolvers<void>();

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Stops at the next status of an Exposure. */
  arm(): void {
    this.#isArmed = true;
  }

  end(): void {
    this.#isPaused = false;
    this.#isArmed = false;
    this.#ended.resolve();
  }

  /**
   * A client of that process. A call that was begun before the pause is sent after it. Neither its signal nor the check
   * before sending stops it: the kernel may have had the request already.
   */
  clientOf(client: KubeClient): KubeClient {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]) => {
          if (this.#isArmed && name === 'apply' && isExposureStatus(args)) this.#isPaused = true;
          if (!this.#isPaused || name === 'watch') {
            return Reflect.apply(value, target, args) as unknown;
          }
          const later = this.#ended.promise.then(() => {
            const sent = args.map((arg) => unstoppable(arg));
            return Reflect.apply(value, target, sent) as unknown;
          });
          if (name === 'apply' && isExposureStatus(args)) this.results.push(settled(later));
          return later;
        };
      },
    });
  }
}

function isExposureStatus([object, options]: readonly unknown[]): boolean {
  const { kind } = object as KubeObject;
  return kind === 'Exposure' && (options as ApplyOptions).subresource === 'status';
}

function unstoppable(arg: unknown): unknown {
  if (typeof arg !== 'object' || arg === null || !('signal' in arg)) return arg;
  const { signal: _signal, assertMaySend: _assert, ...rest } = arg as WriteOptions;
  return rest;
}

/** What a promise resolves to, or what it is rejected with. */
async function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => error);
}

/** The statuses of a condition of all Exposures, as they follow each other. */
function transitionsOf(lab: OperatorLab, type: string): { seen: string[]; stop: () => void } {
  const seen: string[] = [];
  const stop = new AbortController();
  const follow = async () => {
    const { resourceVersion } = await lab.user.list(RESOURCES.exposure);
    const options = { namespace: TENANTS, resourceVersion, signal: stop.signal };
    for await (const event of lab.user.watch<Exposure>(RESOURCES.exposure, options)) {
      if (event.type === 'BOOKMARK') continue;
      const found = event.object.status?.conditions?.find((condition) => condition.type === type);
      if (found !== undefined && found.status !== seen.at(-1)) seen.push(found.status);
    }
  };
  void settled(follow());
  return { seen, stop: () => stop.abort() };
}

type Exposure = KubeObject & { readonly status?: ExposureStatus };

describe.concurrent('a leader that was paused in the middle of a reconcile', () => {
  test('cannot overwrite the status that the next leader has written', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { controllers } = await lab.addTenant('blue');
    const pause = new Pause();
    const first = replica(lab, 'first', pause.clientOf(lab.management.client()));
    await lab.until('the first leads', () => first.election.isLeader);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    pause.arm();
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.until('the first is about to write', () => pause.isPaused);
    const second = replica(lab, 'second', lab.management.client());
    await lab.until('the second leads', () => second.election.isLeader);
    await controllers.addNode('worker-2', ['10.0.0.2'], false);
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotReady/);
    const written = lab.exposure('blue');
    const quiet = first.logged.length;
    pause.end();
    const results = await lab.settled('the writes have their answers', Promise.all(pause.results));

    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ reason: 'Conflict', causes: [] });
    expect(lab.exposure('blue')).toEqual(written);
    expect(lab.statusOf('blue')?.proxies).toMatchObject({ ready: 1, desired: 2 });
    const warned = first.logged.slice(quiet).filter(({ level }) => level === 'warn');
    expect(warned.filter(({ key }) => key === 'tenants/blue')).toEqual([]);
    await first.stop();
    await second.stop();
  });
});

const WRITES = new Set(['create', 'replace', 'apply', 'patch', 'delete']);

/** The name of the object that a call is for. Calls take the object itself, or a resource and then a key or the object. */
function nameIn(args: readonly unknown[]): string | undefined {
  const [first, second] = args as readonly (Partial<KubeObject & ObjectKey> | undefined)[];
  return first?.metadata?.name ?? second?.metadata?.name ?? second?.name;
}

/**
 * A client that calls `onWrite` for every write except those of the replicas' Lease. Its calls for that Lease fail
 * after `leaseCut`.
 */
function observed(client: KubeClient, onWrite: () => void, leaseCut?: AbortSignal): KubeClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const isLease = args[0] === RESOURCES.lease && nameIn(args) === LEASE_NAME;
        if (isLease && leaseCut?.aborted === true) {
          return Promise.reject(new KubeError('Unreachable', 'the wire is cut'));
        }
        if (WRITES.has(String(name)) && !isLease) onWrite();
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

describe.concurrent('a leader that cannot renew its Lease', () => {
  test('writes nothing to any cluster after the renew deadline, long before the Lease expires', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { clock, operatorOptions } = lab.environment;
    const writtenMs: number[] = [];
    const onWrite = () => writtenMs.push(clock.nowMs());
    const cut = new AbortController();
    const leader = replica(lab, 'first', observed(lab.management.client(), onWrite, cut.signal), {
      connectTenant: (access) => observed(operatorOptions.connectTenant!(access), onWrite),
    });
    const { controllers } = await lab.addTenant('blue');
    await lab.expose('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);

    cut.abort();
    const cutMs = clock.nowMs();
    // Something to report, and something to repair in the tenant, every second.
    for (let second = 0; clock.nowMs() < cutMs + 20_000; second++) {
      controllers.setReady('worker-1', second % 2 === 1);
      await lab.tenants[0]!.user.delete(RESOURCES.configMap, PROXY);
      const nextMs = clock.nowMs() + 1_000;
      await lab.until('a second has passed', () => clock.nowMs() >= nextMs);
    }

    const since = writtenMs.filter((ms) => ms > cutMs).map((ms) => ms - cutMs);
    expect(since.some((ms) => ms > 5_000)).toBe(true);
    expect(since.filter((ms) => ms > RENEW_DEADLINE_MS)).toEqual([]);
    expect(leader.election.isLeader).toBe(false);
    await leader.stop();
  });
});

describe.concurrent('a leader that may no longer write', () => {
  test('writes nothing to a tenant that its management cluster still owns', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { operatorOptions } = lab.environment;
    let mayWrite = true;
    const writtenWhile: boolean[] = [];
    const leader = replica(lab, 'first', lab.management.client(), {
      mayWrite: () => mayWrite,
      connectTenant: (access) =>
        observed(operatorOptions.connectTenant!(access), () => writtenWhile.push(mayWrite)),
    });
    const { server, controllers, user } = await lab.addTenant('blue');
    await lab.expose('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);

    mayWrite = false;
    await user.delete(RESOURCES.lease, OWNER_LEASE);
    await user.delete(RESOURCES.daemonSet, PROXY);
    await lab.untilCondition('blue', 'WorkersReady', /^(?:False|Unknown)/);
    await lab.environment.pass(60_000);
    expect(server.read(RESOURCES.lease, OWNER_LEASE)).toBeUndefined();
    expect(writtenWhile).not.toContain(false);
    mayWrite = true;
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);

    expect(writtenWhile).not.toContain(false);
    await leader.stop();
  });
});

/** A connection that applies of DaemonSets have to wait for, whatever their signals say. */
class SlowConnection {
  /** The results of applies that waited. */
  readonly results: Promise<unknown>[] = [];
  isSlow = false;
  readonly #opened = Promise.withResolvers<void>();

  open(): void {
    this.isSlow = false;
    this.#opened.resolve();
  }

  clientOf(client: KubeClient): KubeClient {
    const apply: KubeClient['apply'] = async (object, options) => {
      if (!this.isSlow || object.kind !== 'DaemonSet') return client.apply(object, options);
      const { signal: _, ...rest } = options ?? {};
      const later = this.#opened.promise.then(async () => client.apply(object, rest));
      this.results.push(settled(later));
      return later;
    };
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = name === 'apply' ? apply : Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

describe.concurrent('a leader that is deposed while a write to a tenant waits for a connection', () => {
  test('does not send that write', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { operatorOptions } = lab.environment;
    const cut = new AbortController();
    const connection = new SlowConnection();
    const client = observed(lab.management.client(), () => {}, cut.signal);
    const first = replica(lab, 'first', client, {
      connectTenant: (access) => connection.clientOf(operatorOptions.connectTenant!(access)),
    });
    const { server, controllers, user } = await lab.addTenant('blue');
    await lab.expose('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);

    connection.isSlow = true;
    await user.delete(RESOURCES.daemonSet, PROXY);
    await lab.until('the write waits', () => connection.results.length === 1);
    cut.abort();
    const second = replica(lab, 'second', lab.management.client());
    await lab.until('the second leads', () => second.election.isLeader);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    const written = server.writes().length;
    connection.open();
    const [result] = await lab.settled('the write is over', Promise.all(connection.results));

    expect(result).toMatchObject({ name: 'TenantNotOwned' });
    expect(server.writes()).toHaveLength(written);
    await first.stop();
    await second.stop();
  });
});

describe.concurrent('replicas that are cut off from the API for ten minutes', () => {
  test('return with one list per kind, and without a write to an Exposure', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { clock } = lab.environment;
    const first = replica(lab, 'first', lab.management.client());
    await lab.until('the first leads', () => first.election.isLeader);
    const second = replica(lab, 'second', lab.management.client());
    const { controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    await lab.environment.pass(600_000);
    const before = lab.exposure('blue');
    const requestsBefore = lab.management.requests().length;
    const writesBefore = lab.management.writes().length;

    const outageEndMs = clock.nowMs() + 600_000;
    await lab.management.goDown();
    const result = await lab.settled('the first has ended', first.running);
    await lab.until('ten minutes have passed', () => clock.nowMs() >= outageEndMs);
    await lab.management.comeUp();
    const isSettled = () => second.election.isLeader && second.operator.notReady() === undefined;
    await lab.until('the second leads', isSettled);
    await lab.environment.pass(600_000);

    const requests = lab.management.requests().slice(requestsBefore);
    const lists = requests.filter(({ verb }) => verb === 'list').map(({ plural }) => plural);
    const writes = lab.management.writes().slice(writesBefore);
    const written = writes.map(({ plural }) => plural);
    expect(result).toMatchObject({ message: 'lost the Lease snicket-system/snicket-operator' });
    expect(lists).toContain('exposures');
    expect(lists.toSorted()).toEqual([...new Set(lists)].toSorted());
    expect(written).toContain('leases');
    expect(written.filter((plural) => plural !== 'leases')).toEqual([]);
    expect(lab.exposure('blue')).toEqual(before);
    await first.stop();
    await second.stop();
  });
});

describe.concurrent('an Exposure that another writer changes during a reconcile', () => {
  test('is reconciled again without a warning, from the version of the other', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    const { controllers } = await lab.addTenant('blue');
    const pause = new Pause();
    lab.startOperator({ client: pause.clientOf(lab.management.client()) });
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    pause.arm();
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.until('the operator is about to write', () => pause.isPaused);
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { labels: { team: 'a' } } });
    pause.end();
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);

    expect(await Promise.all(pause.results)).toMatchObject([{ reason: 'Conflict' }]);
    expect(lab.exposure('blue')?.metadata.labels).toEqual({ team: 'a' });
    expect(lab.number('reconcile_conflicts_total', 'controller="exposure"')).toBe(1);
    expect(lab.number('reconcile_errors_total', 'controller="exposure"')).toBe(0);
    expect(lab.log.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  test('again and again is not reconciled in a hot loop', async () => {
    await using lab = await OperatorLab.start();
    const { controllers } = await lab.addExposed('blue');
    const conflict = { kind: 'error', status: 409, reason: 'Conflict' } as const;
    const runs = () => lab.number('reconciles_total', 'controller="exposure"');
    await lab.untilQuiet(1);
    const before = { runs: runs(), ms: lab.environment.clock.nowMs() };
    lab.management.inject(conflict, { verb: 'apply', plural: 'exposures' }, Infinity);

    await controllers.addNode('worker-1', ['10.0.0.1']);
    const conflicts = () => lab.number('reconcile_conflicts_total', 'controller="exposure"');
    await lab.until('there were ten conflicts', () => conflicts() >= 10);

    // The watch has nothing newer, so only the first of these was an attempt to write.
    const attempts = lab.management
      .writes()
      .filter(({ plural, subresource }) => plural === 'exposures' && subresource === 'status');
    const tookMs = lab.environment.clock.nowMs() - before.ms;
    expect(runs() - before.runs).toBeLessThan(20);
    expect(tookMs).toBeGreaterThan(60_000);
    lab.management.clearFaults();
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { labels: { team: 'a' } } });
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    expect(attempts.length).toBeLessThan(10);
  });
});

describe.concurrent('the status', () => {
  test('changes only when the reported state changes', async () => {
    await using lab = await OperatorLab.start();
    const { controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    const { seen, stop } = transitionsOf(lab, 'WorkersReady');

    for (let time = 0; time < 5; time++) {
      controllers.setReady('worker-1', false);
      await lab.untilCondition('blue', 'WorkersReady', /^False/);
      controllers.setReady('worker-1', true);
      await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    }
    await lab.untilReconciled(5);
    stop();

    expect(seen).toEqual(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 'False' : 'True')));
  });

  test('is stable through an outage of the API server, its restart, and a new leader', async () => {
    await using lab = await OperatorLab.start();
    const { controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    await lab.untilQuiet(5);
    const statusWrites = () =>
      lab.management
        .writes()
        .filter(({ plural, subresource }) => plural === 'exposures' && subresource === 'status')
        .length;
    const before = { status: lab.statusOf('blue')!, writes: statusWrites() };
    const lists = () => lab.number('informer_lists_total', 'cluster="management"');
    const listed = lists();
    const expired = () =>
      lab.number('informer_relists_total', 'cluster="management",reason="Expired"');

    const { clock } = lab.environment;
    const outageEndMs = clock.nowMs() + 600_000;
    await lab.management.goDown();
    await lab.until('ten minutes have passed', () => clock.nowMs() >= outageEndMs);
    await lab.management.comeUp();
    const isWatched = () => lab.management.openWatches > 0 && lab.operator.notReady() === undefined;
    await lab.until('all is watched again', isWatched);
    await lab.untilReconciled(3);
    const afterOutage = { lists: lists(), expired: expired() };
    lab.management.resetConnections();
    lab.management.compact();
    await lab.until('the operator has listed again', () => expired() > 0);
    await lab.untilReconciled(3);
    await lab.stopOperator();
    lab.startOperator({ identity: 'another' });
    await lab.untilReconciled(5);

    expect(afterOutage).toEqual({ lists: listed, expired: 0 });
    expect(statusWrites()).toBe(before.writes);
    expect(lab.statusOf('blue')).toEqual(before.status);
  });
});
