import { expect, test } from 'bun:test';
import type { KubeClient, WatchEvent, WatchOptions } from '../../client/client.ts';
import { Informer } from '../../informer/informer.ts';
import { InformerCounters } from '../../informer/relist.ts';
import { fastClock } from '../../informer/testing/fast-clock.ts';
import { KubeError } from '../../kube-error.ts';
import type { KubeObject } from '../../object.ts';
import { RESOURCES, type Resource } from '../../resource.ts';
import type { ApiObject } from '../../store/object-store.ts';
import { configMap, keyOf, NAMESPACE } from './objects.ts';
import type { ContractSubject } from './subject.ts';
import { until } from './until.ts';

const { configMap: maps } = RESOURCES;
const CUTS = 50;
const DEADLINE_MS = 120_000;
const NO_RELISTS = new InformerCounters().relists;

/** Registers the tests of informers. */
export function informerContract(subject: () => ContractSubject): void {
  test(
    'resumes a watch that breaks, and neither lists again nor misses nor repeats an event',
    async () => {
      const { client } = subject();
      const selected = { labels: { informer: 'resume' } };
      const version = (name: string, n: number) => configMap(name, { n: String(n) }, selected);
      await client.create(maps, version('resumed', 0));
      await client.create(maps, version('resumed-steady', 0));
      await using follower = new Follower(client, 'informer=resume');
      await follower.untilConnected();
      const expected = ['ADDED resumed 0', 'ADDED resumed-steady 0'];

      for (let n = 1; n <= CUTS; n++) {
        await follower.untilConnected();
        await follower.cut();
        await client.apply(version('resumed', n), { force: true });
        await client.create(maps, version('resumed-extra', n));
        await client.delete(maps, keyOf('resumed-extra'));
        expected.push(
          ...[`MODIFIED resumed ${n}`, `ADDED resumed-extra ${n}`, `DELETED resumed-extra ${n}`],
        );
        await until('all changes are reported', () => follower.changes.length >= expected.length);
      }

      expect(follower.changes).toEqual(expected);
      expect(follower.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
      expect(follower.counters.watches).toBeGreaterThan(CUTS);
    },
    DEADLINE_MS,
  );

  test(
    'lists again once if its version has expired, and reports only the differences',
    async () => {
      const { client } = subject();
      const selected = { labels: { informer: 'expired' } };
      const version = (name: string, n: number) => configMap(name, { n: String(n) }, selected);
      for (const name of ['changed', 'deleted', 'steady']) {
        await client.create(maps, version(`expired-${name}`, 0));
      }
      await using follower = new Follower(client, 'informer=expired');
      await follower.untilConnected();
      const before = follower.changes.length;

      const resume = await follower.holdWatches();
      await client.apply(version('expired-changed', 1), { force: true });
      await client.delete(maps, keyOf('expired-deleted'));
      resume('1');
      await until('the informer has listed again', () => follower.counters.lists === 2);
      await follower.untilConnected();
      await client.create(maps, version('expired-last', 1));
      await until(
        'the last change is reported',
        () => follower.changes.at(-1) === 'ADDED expired-last 1',
      );

      expect(follower.changes.slice(before)).toEqual([
        'DELETED expired-deleted 0',
        'MODIFIED expired-changed 1',
        'ADDED expired-last 1',
      ]);
      const relists = { ...NO_RELISTS, Expired: 1 };
      expect(follower.counters).toMatchObject({ lists: 2, relists });
    },
    DEADLINE_MS,
  );
}

/** An informer whose watches can be broken by a test. Requests and responses are those of the server. */
class Follower implements AsyncDisposable {
  /** For example `MODIFIED blue 3`. */
  readonly changes: string[] = [];
  readonly #informer: Informer<ApiObject>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #break = new AbortController();
  /** Resolves with the version that the next watch uses instead of its own. */
  #held: Promise<string> | undefined;

  constructor(client: KubeClient, labelSelector: string) {
    this.#informer = new Informer<ApiObject>({
      client: withWatch(client, (...call) => this.#watch(client, ...call)),
      resource: maps,
      selection: { namespace: NAMESPACE, labelSelector },
      clock: fastClock,
    });
    this.#informer.onChange(({ type, object }) => {
      const { n } = object['data'] as { readonly n: string };
      this.changes.push(`${type} ${object.metadata.name} ${n}`);
    });
    this.#running = this.#informer.run(this.#stop.signal);
  }

  get counters(): InformerCounters {
    return this.#informer.counters;
  }

  async untilConnected(): Promise<void> {
    await until('a watch is open', () => this.#informer.state.isConnected);
  }

  /** Breaks the open watch. */
  async cut(): Promise<void> {
    const { watches } = this.counters;
    this.#break.abort();
    this.#break = new AbortController();
    const isBroken = () => !this.#informer.state.isConnected || this.counters.watches > watches;
    await until('the watch is broken', isBroken);
  }

  /** Breaks the watch and delays the next one until the returned function is called with a version to start at. */
  async holdWatches(): Promise<(resourceVersion: string) => void> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#held = promise;
    await this.cut();
    return resolve;
  }

  async *#watch<T extends KubeObject>(
    client: KubeClient,
    resource: Resource,
    { signal, ...options }: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const held = this.#held;
    this.#held = undefined;
    const resourceVersion = (await held) ?? options.resourceVersion;
    const broken = this.#break.signal;
    const stopSignal = AbortSignal.any(signal === undefined ? [broken] : [broken, signal]);
    try {
      yield* client.watch<T>(resource, { ...options, resourceVersion, signal: stopSignal });
    } catch (error) {
      if (broken.aborted) throw new KubeError('Unreachable', 'the watch was closed');
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Returns the client with another `watch`. */
function withWatch(client: KubeClient, watch: KubeClient['watch']): KubeClient {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'watch') return watch;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
