import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../../net/testing/peer.ts';
import { Informer } from './informer.ts';
import { InformerCounters } from './relist.ts';
import { fastClock } from './testing/fast-clock.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { TestApiServer } from '../testing/api-server.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import { steadyWrite } from '../testing/steady-write.ts';
import type { TestCluster } from '../testing/test-cluster.ts';

setDefaultTimeout(240_000);

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const { configMap: maps } = RESOURCES;
const NO_RELISTS = new InformerCounters().relists;
const CUTS = 50;

const keyOf = (name: string) => ({ name, namespace: 'default' });
const mapOf = (name: string, n: number): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: keyOf(name),
  data: { n: String(n) },
});

/** An informer with a log of its requests and changes. */
class Follower implements AsyncDisposable {
  readonly informer: Informer<ConfigMap>;
  /** For example `MODIFIED changing 3`. */
  readonly changes: string[] = [];
  readonly #server: TestCluster;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(server: TestCluster) {
    this.#server = server;
    // With the fast clock, a request would time out after 150 ms, and the informer would list twice.
    const client = server.client({ userAgent: 'follower' });
    this.informer = new Informer<ConfigMap>({ client, resource: maps, clock: fastClock });
    this.informer.onChange(({ type, object }) =>
      this.changes.push(`${type} ${object.metadata.name} ${object.data?.['n']}`),
    );
    this.#running = this.informer.run(this.#stop.signal);
  }

  async untilConnected(): Promise<void> {
    await until(() => this.informer.state.isConnected, 'a watch is open', 200_000);
  }

  async untilTold(last: string): Promise<void> {
    await until(() => this.changes.at(-1) === last, `the last is ${last}`, 200_000);
  }

  /** Lists that the API server received, of any size. */
  get lists(): number {
    return this.#server
      .requests()
      .filter(({ verb, plural }) => verb === 'list' && plural === maps.plural).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Starts a cluster. By default, it sends no bookmarks during a test. */
type Start = (bookmarkEveryMs?: number) => Promise<TestCluster>;

describe.each<[string, Start]>([
  ['over TLS', async (bookmarkEveryMs = 60_000) => TestApiServer.start({ bookmarkEveryMs })],
  ['in memory', async (bookmarkEveryMs = 60_000) => MemoryApiServer.start({ bookmarkEveryMs })],
])('an informer %s', (_front, start) => {
  test.each<[string, (server: TestCluster) => void]>([
    ['ended', (server) => server.endWatches()],
    ['reset', (server) => server.resetConnections()],
  ])(
    `whose watch is ${'%s'} ${CUTS} times lists once, and misses and repeats nothing`,
    async (_cut, cut) => {
      await using server = await start();
      const writer = server.client();
      await steadyWrite(async () => writer.create(maps, mapOf('changing', 0)));
      await steadyWrite(async () => writer.create(maps, mapOf('steady', 0)));
      await using follower = new Follower(server);
      await follower.untilConnected();
      const expected = ['ADDED changing 0', 'ADDED steady 0'];

      for (let n = 1; n <= CUTS; n++) {
        await steadyWrite(async () => writer.apply(mapOf('changing', 2 * n), { force: true }));
        expected.push(`MODIFIED changing ${2 * n}`);
        await follower.untilConnected();
        const { watches } = follower.informer.counters;
        cut(server);
        // With the in-memory server, the next watch may be open before the first poll. Otherwise it may not be open
        // yet.
        const isCut = () =>
          !follower.informer.state.isConnected || follower.informer.counters.watches > watches;
        await until(isCut, 'the watch is closed', 200_000);
        await steadyWrite(async () => writer.create(maps, mapOf(`extra-${n}`, n)));
        await steadyWrite(async () => writer.delete(maps, keyOf(`extra-${n}`)));
        await steadyWrite(async () => writer.apply(mapOf('changing', 2 * n + 1), { force: true }));
        expected.push(
          ...[`ADDED extra-${n} ${n}`, `DELETED extra-${n} ${n}`],
          `MODIFIED changing ${2 * n + 1}`,
        );
        await follower.untilTold(`MODIFIED changing ${2 * n + 1}`);
        expect(follower.informer.counters.watches).toBeGreaterThan(watches);
      }

      expect(follower.changes).toEqual(expected);
      expect(follower.informer.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
      expect(follower.lists).toBe(1);
    },
  );

  test('resumes from a bookmark if the last event is too old', async () => {
    await using server = await start(20);
    const writer = server.client();
    await steadyWrite(async () => writer.create(maps, mapOf('steady', 0)));
    await using follower = new Follower(server);
    await follower.untilConnected();

    server.compact();
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: keyOf('another-kind') };
    const { metadata } = await steadyWrite(async () =>
      writer.create<KubeObject>(RESOURCES.secret, secret),
    );
    const isMarked = () => follower.informer.state.resourceVersion === metadata.resourceVersion;
    await until(isMarked, 'the bookmark has arrived', 200_000);
    server.endWatches();
    await until(() => follower.informer.counters.watches === 2, 'there is another watch', 200_000);
    await steadyWrite(async () => writer.create(maps, mapOf('extra', 1)));
    await follower.untilTold('ADDED extra 1');

    expect(follower.changes).toEqual(['ADDED steady 0', 'ADDED extra 1']);
    expect(follower.informer.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
  });

  test('lists once after a compaction, and reports only the differences', async () => {
    await using server = await start();
    const writer = server.client();
    for (const name of ['changed', 'deleted', 'replaced', 'steady']) {
      await steadyWrite(async () => writer.create(maps, mapOf(name, 0)));
    }
    await using follower = new Follower(server);
    await follower.untilConnected();
    const before = follower.changes.length;

    // The server stays busy until all changes are made.
    const busy = { kind: 'error', status: 429, reason: 'TooManyRequests' } as const;
    server.inject(busy, { verb: 'watch' }, Infinity);
    server.endWatches();
    await until(() => !follower.informer.state.isConnected, 'the watch is closed', 200_000);
    await steadyWrite(async () => writer.apply(mapOf('changed', 1), { force: true }));
    await steadyWrite(async () => writer.delete(maps, keyOf('deleted')));
    await steadyWrite(async () => writer.delete(maps, keyOf('replaced')));
    await steadyWrite(async () => writer.create(maps, mapOf('replaced', 1)));
    server.compact();
    server.clearFaults();
    await until(
      () => follower.informer.counters.lists === 2,
      'the informer has listed again',
      200_000,
    );
    await follower.untilConnected();
    await steadyWrite(async () => writer.create(maps, mapOf('last', 1)));
    await follower.untilTold('ADDED last 1');

    expect(follower.changes.slice(before)).toEqual([
      'DELETED deleted 0',
      'MODIFIED changed 1',
      'DELETED replaced 0',
      'ADDED replaced 1',
      'ADDED last 1',
    ]);
    const relists = { ...NO_RELISTS, Expired: 1 };
    expect(follower.informer.counters).toMatchObject({ lists: 2, relists });
    expect(follower.lists).toBe(2);
  });

  test('does not list again after an outage of the API server', async () => {
    await using server = await start();
    const writer = server.client();
    await steadyWrite(async () => writer.create(maps, mapOf('changing', 0)));
    await using follower = new Follower(server);
    await follower.untilConnected();

    await server.goDown();
    await until(
      () => follower.informer.state.failures > 3,
      'several attempts have failed',
      200_000,
    );
    server.seed(mapOf('extra', 1) as ConfigMap & Record<string, unknown>);
    await server.comeUp();
    await follower.untilTold('ADDED extra 1');

    expect(follower.informer.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
    expect(follower.changes).toEqual(['ADDED changing 0', 'ADDED extra 1']);
  });
});
