import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DrivenClock } from '../clock/testing/driven-clock.ts';
import type { Route } from '../gateway/routes/route.ts';
import type { TenantRouteSpec } from '../api/tenant-route.ts';
import { TooManyRoutes } from '../gateway/routes/route-table.ts';
import { RETRY_MS, type RouteCounts } from '../gateway/routes/routes-feed.ts';
import { RESOURCES } from '../kube/resource.ts';
import { MemoryApiServer } from '../kube/testing/memory/memory-api-server.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { until } from '../operator/testing/until.ts';
import { createLogger } from '../telemetry/log.ts';
import { KubernetesRoutes, type KubernetesRoutesOptions } from './kubernetes-routes.ts';

setDefaultTimeout(240_000);

const TENANTS = 'tenants';

/** A management cluster and a fake gateway that receives its routes. */
class RoutesLab implements AsyncDisposable {
  readonly clock: DrivenClock;
  readonly server: MemoryApiServer;
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-routes-'));
  readonly log: Record<string, unknown>[] = [];
  readonly feeds: KubernetesRoutes[] = [];
  /** The active routes. */
  routes: readonly Route[] | undefined;
  /** With more routes than this, the gateway fails. */
  maxRoutes = 100;
  /** Number of slots in the gateway's route table. */
  slots = 100;
  /** What the gateway received, in order: `all N`, or the hosts of an update, with a dash for removed hosts. */
  readonly sent: string[] = [];
  /** Number of routes that can be active. Further routes wait for a free slot. */
  room = 100;

  private constructor(clock: DrivenClock, server: MemoryApiServer) {
    this.clock = clock;
    this.server = server;
  }

  static async start(): Promise<RoutesLab> {
    const clock = new DrivenClock();
    const server = await MemoryApiServer.start({ clock });
    server.seed(objectOf('Namespace', { name: TENANTS }));
    return new RoutesLab(clock, server);
  }

  get statePath(): string {
    return join(this.folder, 'routes.json');
  }

  get user() {
    return this.server.client({ fieldManager: 'user' });
  }

  open(options: Partial<KubernetesRoutesOptions> = {}): KubernetesRoutes {
    const write = (line: string) => this.log.push(JSON.parse(line) as Record<string, unknown>);
    const feed = new KubernetesRoutes(
      { client: this.server.client(), clock: this.clock, startTimeoutMs: 100, ...options },
      {
        log: createLogger({ level: 'debug', write }),
        onRoutes: (routes) => {
          this.sent.push(`all ${routes.length}`);
          return this.#apply(routes);
        },
        onUpdate: ({ set, removed }) => {
          this.sent.push(...set.map(({ host }) => host), ...removed.map((host) => `-${host}`));
          const gone = new Set([...removed, ...set.map(({ host }) => host)]);
          const others = (this.routes ?? []).filter(({ host }) => !gone.has(host));
          return this.#apply([...others, ...set]);
        },
        known: (host) => this.routes?.find((route) => route.host === host),
      },
    );
    this.feeds.push(feed);
    return feed;
  }

  /** The routes as `host -> endpoint endpoint`. */
  texts(): readonly string[] | undefined {
    return this.routes
      ?.map(({ host, endpoints }) => `${host} -> ${endpoints.join(' ')}`)
      .toSorted();
  }

  async until<T>(what: string, observe: () => T | undefined | false): Promise<T> {
    return this.clock.until(what, observe);
  }

  async untilRoutes(...texts: readonly string[]): Promise<void> {
    await this.until(`routes ${texts.join(', ')}`, () => Bun.deepEquals(this.texts(), texts));
  }

  /** Writes a TenantRoute for a tenant. */
  async expose(name: string, spec: Partial<TenantRouteSpec> = {}, tenant = name): Promise<void> {
    const service = { name: tenant, port: 6443, portName: 'api' };
    await this.user.apply(
      objectOf(
        'TenantRoute',
        { name, namespace: TENANTS },
        {
          spec: {
            edgeRef: { name: 'shared' },
            driver: 'snicket',
            exposureRef: { name: tenant },
            host: `${name}.example.test`,
            type: 'API',
            backend: { service },
            ...spec,
          },
        },
      ),
      { force: true },
    );
  }

  async slice(service: string, ...addresses: readonly string[]): Promise<void> {
    const labels = { 'kubernetes.io/service-name': service };
    const metadata = { name: `${service}-1`, namespace: TENANTS, labels };
    const ports = [{ name: 'api', port: 6443, protocol: 'TCP' }];
    const endpoints = addresses.map((address) => ({ addresses: [address] }));
    const slice = objectOf('EndpointSlice', metadata, { addressType: 'IPv4', ports, endpoints });
    await this.user.apply(slice, { force: true });
  }

  logged(message: string): Record<string, unknown> | undefined {
    return this.log.find(({ msg }) => String(msg).includes(message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const feed of this.feeds) feed.stop();
    await this.server[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true });
  }

  #apply(routes: readonly Route[]): RouteCounts {
    if (routes.length > this.maxRoutes) throw new Error('too many');
    if (routes.length > this.slots) throw new TooManyRoutes(routes.length, this.slots);
    const active = routes.slice(0, this.room);
    const isSame = Bun.deepEquals(active, this.routes);
    this.routes = active;
    const waiting = routes.length - active.length;
    return { added: isSame ? 0 : active.length, changed: 0, removed: 0, waiting };
  }
}

describe.concurrent("a gateway's routes from a cluster", () => {
  test('are active once it has started, and change with the cluster', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    await lab.slice('blue', '10.0.0.1');
    const feed = lab.open({ startTimeoutMs: 10_000 });

    await feed.start();

    expect(lab.texts()).toEqual(['blue.example.test -> 10.0.0.1:6443']);
    await lab.until('it is connected', () => feed.state.isCurrent);
    expect(feed.state).toMatchObject({ problem: undefined, failures: 0 });

    await lab.slice('blue', '10.0.0.1', '10.0.0.2');
    await lab.untilRoutes('blue.example.test -> 10.0.0.1:6443 10.0.0.2:6443');

    await lab.expose('green');
    await lab.untilRoutes(
      ...['blue.example.test -> 10.0.0.1:6443 10.0.0.2:6443', 'green.example.test -> '],
    );

    await lab.user.delete(RESOURCES.tenantRoute, { name: 'blue', namespace: TENANTS });
    await lab.untilRoutes('green.example.test -> ');
  });

  test('that change in a burst are applied together', async () => {
    await using lab = await RoutesLab.start();
    const feed = lab.open({ startTimeoutMs: 10_000 });
    await feed.start();
    const before = feed.state.loads;

    await Promise.all(Array.from({ length: 20 }, async (_, index) => lab.expose(`t${index}`)));

    await lab.until('all routes are active', () => lab.routes?.length === 20);
    expect(feed.state.loads - before).toBeLessThan(20);
  });

  test('stay active while the API server is unreachable, and are updated when it is back', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    await lab.slice('blue', '10.0.0.1');
    const feed = lab.open({ startTimeoutMs: 10_000 });
    await feed.start();

    await lab.server.goDown();

    await lab.until('it is noticed', () => feed.state.problem);
    expect(feed.state.problem).toContain(`the API server at ${lab.server.url} cannot be watched`);
    expect(feed.state.isCurrent).toBe(false);
    expect(lab.texts()).toEqual(['blue.example.test -> 10.0.0.1:6443']);

    await lab.server.comeUp();
    await lab.slice('blue', '10.0.0.9');

    await lab.untilRoutes('blue.example.test -> 10.0.0.9:6443');
    await lab.until('it has recovered', () => feed.state.isCurrent);
  });

  test('are loaded from the state file if the API server is unreachable at the start', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    await lab.slice('blue', '10.0.0.1');
    const { statePath } = lab;
    const first = lab.open({ statePath, startTimeoutMs: 10_000 });
    await first.start();
    first.stop();
    await lab.server.goDown();
    lab.routes = undefined;

    const second = lab.open({ statePath, startTimeoutMs: 10_000 });
    await second.start();

    expect(lab.texts()).toEqual(['blue.example.test -> 10.0.0.1:6443']);
    expect(second.state).toMatchObject({ isCurrent: false, loads: 1 });

    await lab.server.comeUp();
    await lab.slice('blue', '10.0.0.2');
    await lab.untilRoutes('blue.example.test -> 10.0.0.2:6443');
    await lab.until('it is written', () => readFileSync(statePath, 'utf8').includes('10.0.0.2'));
  });

  test('are awaited until a timeout if there is no state file', async () => {
    await using lab = await RoutesLab.start();
    await lab.server.goDown();
    const feed = lab.open({ statePath: lab.statePath });

    const starting = feed.start();
    // The gateway first reads the state file, which does not use this clock.
    await until('it waits for the cluster', () => lab.clock.nextDueMs !== undefined);
    await lab.clock.settled('the start', starting);

    expect(lab.routes).toBeUndefined();
    expect(feed.state.loads).toBe(0);
    expect(lab.logged('starting without routes')).toMatchObject({ level: 'warn' });

    await lab.server.comeUp();
    await lab.expose('blue');
    await lab.untilRoutes('blue.example.test -> ');
  });

  test('do not depend on a valid state file, and replace an invalid one', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    const { statePath } = lab;
    writeFileSync(statePath, 'half a fi');
    const feed = lab.open({ statePath, startTimeoutMs: 10_000 });

    await feed.start();

    expect(lab.logged('state file unusable')).toMatchObject({ level: 'error' });
    expect(lab.texts()).toEqual(['blue.example.test -> ']);
    expect(readFileSync(statePath, 'utf8')).toContain('blue.example.test');
  });

  test('that the gateway rejects are not written to the state file', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    const { statePath } = lab;
    const feed = lab.open({ statePath, startTimeoutMs: 10_000 });
    await feed.start();
    lab.maxRoutes = 1;

    await lab.expose('green');

    await lab.until('it is logged', () => lab.logged('failed to apply routes'));
    expect(readFileSync(statePath, 'utf8')).not.toContain('green');
    expect(lab.texts()).toEqual(['blue.example.test -> ']);
    expect(feed.state).toMatchObject({ isCurrent: false, problem: 'too many', failures: 1 });

    lab.maxRoutes = 3;
    await lab.expose('red');
    await lab.until('all routes are active', () => lab.routes?.length === 3);
    expect(readFileSync(statePath, 'utf8')).toContain('red');
    await lab.until('it has recovered', () => feed.state.isCurrent);
  });

  test('beyond the number of slots are not served, and the first ones stay up to date', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    await lab.slice('blue', '10.0.0.1');
    const feed = lab.open({ startTimeoutMs: 10_000 });
    await feed.start();
    lab.slots = 1;

    await lab.expose('green');
    await lab.until('a route waits', () => lab.logged('2 routes are more than 1'));
    await lab.slice('blue', '10.0.0.2');

    await lab.until('blue moves', () => (lab.texts() ?? []).join().includes('10.0.0.2:6443'));
    expect(lab.texts()).toEqual(['blue.example.test -> 10.0.0.2:6443']);
    expect(feed.state.isCurrent).toBe(false);
  });

  test('that wait for a slot are retried without an event', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    const { clock, statePath } = lab;
    const feed = lab.open({ statePath, startTimeoutMs: 10_000 });
    await feed.start();
    lab.room = 1;

    await lab.expose('green');

    await lab.until('it is logged', () => lab.logged('1 routes wait for a free slot'));
    expect(feed.state).toMatchObject({ isCurrent: false, failures: 1 });
    expect(feed.state.problem).toContain('1 routes wait for a free slot');
    expect(readFileSync(statePath, 'utf8')).not.toContain('green');

    clock.advance(RETRY_MS);
    expect(lab.log.filter(({ msg }) => String(msg).includes('wait for a free slot')).length).toBe(
      1,
    );

    lab.room = 2;
    clock.advance(RETRY_MS);

    expect(lab.texts()).toEqual(['blue.example.test -> ', 'green.example.test -> ']);
    expect(feed.state).toMatchObject({ isCurrent: true, problem: undefined, failures: 1 });
    expect(readFileSync(statePath, 'utf8')).toContain('green');
    const { loads } = feed.state;
    clock.advance(RETRY_MS);
    expect(feed.state.loads).toBe(loads);
  });

  test('are active even if the state file cannot be written, which is logged once', async () => {
    await using lab = await RoutesLab.start();
    const statePath = join(lab.folder, 'a-file', 'routes.json');
    writeFileSync(join(lab.folder, 'a-file'), '');
    const feed = lab.open({ statePath, startTimeoutMs: 10_000 });
    await feed.start();

    await lab.expose('blue');
    await lab.untilRoutes('blue.example.test -> ');
    await lab.expose('green');
    await lab.until('both', () => lab.routes?.length === 2);

    const complaints = lab.log.filter(({ msg }) => String(msg).includes('failed to write'));
    expect(complaints.length).toBe(1);
  });

  test('of another Edge are left out, and a fault is logged once', async () => {
    await using lab = await RoutesLab.start();
    await lab.expose('blue');
    await lab.expose('far', { edgeRef: { name: 'other' } });
    await lab.expose('copy', { host: 'blue.example.test' });
    const feed = lab.open({ edge: 'shared', startTimeoutMs: 10_000 });

    await feed.start();
    await lab.slice('blue', '10.0.0.1');

    await lab.untilRoutes('blue.example.test -> 10.0.0.1:6443');
    const complaints = lab.log.filter(({ msg }) =>
      String(msg).includes('TenantRoute tenants/copy'),
    );
    expect(complaints.length).toBe(1);
  });

  test('of a tenant that moves to another Edge or other hosts stay until they are deleted', async () => {
    await using lab = await RoutesLab.start();
    const otherEdge = { edgeRef: { name: 'other' }, driver: 'haproxy' } as const;
    await lab.expose('blue');
    await lab.expose('old', {}, 'blue');
    await lab.expose('blue-elsewhere', { ...otherEdge, host: 'blue.example.test' }, 'blue');
    const feed = lab.open({ edge: 'shared', startTimeoutMs: 10_000 });

    await feed.start();

    expect(lab.texts()).toEqual(['blue.example.test -> ', 'old.example.test -> ']);

    for (const name of ['blue', 'old']) {
      await lab.user.delete(RESOURCES.tenantRoute, { name, namespace: TENANTS });
    }
    await lab.untilRoutes();
  });

  test('are sent to the gateway in full at the start, and then one by one', async () => {
    await using lab = await RoutesLab.start();
    for (const name of ['blue', 'green', 'red']) await lab.expose(name);
    await lab.slice('blue', '10.0.0.1');
    const feed = lab.open({ startTimeoutMs: 10_000 });
    await feed.start();
    expect(lab.sent).toEqual(['all 3']);

    await lab.slice('blue', '10.0.0.2');
    await lab.untilRoutes(
      ...['blue.example.test -> 10.0.0.2:6443', 'green.example.test -> ', 'red.example.test -> '],
    );
    await lab.user.delete(RESOURCES.tenantRoute, { name: 'red', namespace: TENANTS });
    await lab.until('red is gone', () => lab.routes?.length === 2);

    expect(lab.sent).toEqual(['all 3', 'blue.example.test', '-red.example.test']);
  });

  test('are read with GET requests only', async () => {
    await using lab = await RoutesLab.start();
    const feed = lab.open({ statePath: lab.statePath, startTimeoutMs: 10_000 });

    await feed.start();

    expect(lab.server.writes()).toEqual([]);
    const kinds = new Set(lab.server.requests().map(({ plural }) => plural));
    expect(kinds).toEqual(new Set(['tenantroutes', 'endpointslices']));
  });
});
