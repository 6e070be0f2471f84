import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { KubeClient, WatchEvent } from '../client/client.ts';
import { createClient } from '../client/fetch-client.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES, withVersion } from '../resource.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import { TestApiServer } from './api-server.ts';
import { MemoryApiServer } from './memory/memory-api-server.ts';
import type { TestCluster, TestClusterOptions } from './test-cluster.ts';
import { failureOf } from './contract/objects.ts';
import { until } from './contract/until.ts';
import type { ApiObject } from '../store/object-store.ts';

const maps = RESOURCES.configMap;

function map(name: string, metadata: object = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', ...metadata },
  };
}

type Start = (options?: TestClusterOptions) => Promise<TestCluster>;

describe.each<[string, Start]>([
  ['over TLS', async (options) => TestApiServer.start(options)],
  ['in memory', async (options) => MemoryApiServer.start(options)],
])('a small API server %s', (_front, start) => {
  let server: TestCluster;
  let client: KubeClient;

  beforeEach(async () => {
    server = await start();
    client = server.client();
  });

  afterEach(async () => server[Symbol.asyncDispose]());

  async function watchOnce(): Promise<WatchEvent<KubeObject> | undefined> {
    const { resourceVersion } = await client.list(maps);
    for await (const event of client.watch(maps, { resourceVersion })) return event;
    return undefined;
  }

  describe('clients', () => {
    test('are authenticated by their token only', async () => {
      const credentials = { kind: 'token', token: 'wrong' } as const;
      const unknownClient = server.connect({ ...server.access, credentials });

      expect((await client.version()).gitVersion).toBe('v1.36.3');
      expect(await failureOf(unknownClient.version())).toMatchObject({ reason: 'Unauthorized' });
    });

    test('reject a server with a certificate of another CA', async () => {
      const { cert: ca } = await TestAuthority.create();

      const deceived = server.connect({ ...server.access, ca });
      const misnamed = server.connect({ ...server.access, serverName: 'other.example.test' });

      for (const distrusting of [deceived, misnamed]) {
        const { resourceVersion } = await client.list(maps);
        const watch = distrusting.watch(maps, { resourceVersion })[Symbol.asyncIterator]();
        expect(await failureOf(distrusting.version())).toMatchObject({ reason: 'Untrusted' });
        expect(await failureOf(watch.next())).toMatchObject({ reason: 'Untrusted' });
      }
    });
  });

  describe('the log', () => {
    test('distinguishes writes from reads and dry runs', async () => {
      await client.get(maps, { name: 'a', namespace: 'default' });
      await client.apply(map('a'), { dryRun: true });
      await client.apply(map('a'));
      await client.apply(map('a'));
      await client.delete(maps, { name: 'a', namespace: 'default' });

      const common = { plural: 'configmaps', namespace: 'default', name: 'a', dryRun: false };
      expect(server.requests()).toHaveLength(5);
      expect(server.writes()).toEqual([
        { ...common, verb: 'apply', subresource: undefined, manager: 'snicket' },
        { ...common, verb: 'apply', subresource: undefined, manager: 'snicket' },
        { ...common, verb: 'delete', subresource: undefined, manager: null },
      ]);
    });

    test('does not contain seeded objects', () => {
      server.seed(map('a'));

      expect(server.writes()).toEqual([]);
      expect(server.read(maps, { name: 'a', namespace: 'default' })).toBeDefined();
    });
  });

  describe('kinds', () => {
    test('are served in all registered versions', async () => {
      const newer = RESOURCES.tlsRoute;
      const older = withVersion(newer, 'v1alpha2');
      await using small = await start({ resources: [older, newer, RESOURCES.namespace] });
      const gateway = small.client();
      const metadata = { name: 'a', namespace: 'default' };

      await gateway.apply({ apiVersion: newer.apiVersion, kind: newer.kind, metadata });

      expect(await gateway.get(older, metadata)).toMatchObject({ apiVersion: older.apiVersion });
      expect(await failureOf(gateway.list(maps))).toMatchObject({ reason: 'NotFound' });
    });
  });

  describe('garbage', () => {
    test('consists of objects whose owners no longer exist, and of their dependents', () => {
      const owner = ({ metadata: { name, uid = '' } }: KubeObject) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid,
      });
      const [root] = server.seed(map('root'));
      const gone = { ...owner(root!), uid: 'gone' };
      const [child] = server.seed(map('child', { ownerReferences: [gone] }));
      server.seed(map('grandchild', { ownerReferences: [owner(child!)] }));
      server.seed(map('half', { ownerReferences: [gone, owner(root!)] }));

      expect(server.collectGarbage()).toBe(2);

      const left = ['root', 'child', 'grandchild', 'half'].filter(
        (name) => server.read(maps, { name, namespace: 'default' }) !== undefined,
      );
      expect(left).toEqual(['root', 'half']);
    });
  });

  describe('faults', () => {
    test.each([
      [
        { kind: 'error', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 7 },
        { reason: 'Throttled', retryAfterMs: 7_000 },
      ],
      [{ kind: 'error', status: 500, reason: 'InternalError' }, { reason: 'ServerError' }],
      [{ kind: 'error', status: 410, reason: 'Expired' }, { reason: 'Expired' }],
      [{ kind: 'reset' }, { reason: 'Unreachable' }],
      [{ kind: 'hang' }, { reason: 'TimedOut' }],
    ] as const)('%j of a get is %j', async (fault, error) => {
      // Twice, since fetch retries once on a reused connection.
      server.inject(fault, { verb: 'get' }, 2);

      const clock = new ManualClock();
      const asking = server.client({ clock, timeoutMs: 2_000 });
      const failure = failureOf(asking.get(maps, { name: 'a', namespace: 'default' }));
      await until('the request has arrived', () => server.requests().length > 0);
      if (fault.kind === 'hang') clock.advance(2_000);

      expect(await failure).toMatchObject(error);
    });

    test.each([
      ['half-line', 'Unreachable'],
      ['expired-event', 'Expired'],
      ['reset', 'Unreachable'],
    ] as const)('%s of a watch is %s', async (kind, reason) => {
      server.inject({ kind }, { verb: 'watch' }, 2);

      expect(await failureOf(watchOnce())).toMatchObject({ reason });
    });

    test('a truncated line is not an event', async () => {
      server.inject({ kind: 'short-line' }, { verb: 'watch' });

      const outcome = await watchOnce().catch((error: unknown) => error);

      expect(outcome).not.toHaveProperty('object');
    });

    test('apply to matching requests only, the given number of times', async () => {
      server.seed(map('a'), map('b'));
      const key = (name: string) => ({ name, namespace: 'default' });
      const fault = { kind: 'error', status: 500, reason: 'InternalError' } as const;
      server.inject(fault, { verb: 'get', plural: 'configmaps', name: 'b' });

      expect(await client.get(maps, key('a'))).toBeDefined();
      expect(await failureOf(client.get(maps, key('b')))).toMatchObject({ reason: 'ServerError' });
      expect(await client.get(maps, key('b'))).toBeDefined();
    });

    test('a slow list of 5,000 objects is complete in the end', async () => {
      server.seed(...Array.from({ length: 5_000 }, (_, index) => map(`m-${index}`)));
      server.inject({ kind: 'slow', pieces: 10, pauseMs: 2 }, { verb: 'list' }, 10);

      const { items } = await client.list(maps);

      expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(5_000);
    });

    test('an outage refuses connections, and keeps objects', async () => {
      server.seed(map('a'));
      await server.goDown();
      expect(await failureOf(client.list(maps))).toMatchObject({ reason: 'Unreachable' });

      await server.comeUp();

      expect((await client.list(maps)).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    });

    test('open watches can be ended, reset and expire', async () => {
      const opened = async () => until('a watch is open', () => server.openWatches === 1);
      const closed = async () => until('no watch is open', () => server.openWatches === 0);
      const { resourceVersion } = await client.list(maps);
      const watch = async () => {
        for await (const { type } of client.watch(maps, { resourceVersion })) {
          if (type !== 'BOOKMARK') throw new Error(`unexpected ${type}`);
        }
      };

      const ended = watch();
      await opened();
      server.endWatches();
      await ended;
      await closed();

      const broken = failureOf(watch());
      await opened();
      server.resetConnections();
      expect(await broken).toMatchObject({ reason: 'Unreachable' });
      await closed();

      server.compact();
      expect(await failureOf(watch())).toMatchObject({ reason: 'Expired' });
    });

    test('a list whose continue token has expired starts over', async () => {
      server.seed(...Array.from({ length: 600 }, (_, index) => map(`m-${index}`)));
      server.inject({ kind: 'slow', pieces: 5, pauseMs: 20 }, { verb: 'list' });

      const listed = client.list(maps);
      await until('the first page is requested', () => server.requests().length === 1);
      server.compact();

      expect((await listed).items).toHaveLength(600);
    });
  });
});

test('clients are authenticated by a certificate of the CA only', async () => {
  await using strict = await TestApiServer.start({ credentials: 'certificate' });
  await using other = await TestApiServer.start({ credentials: 'certificate' });
  const credentials = other.access.credentials;

  const known = createClient(strict.access);
  const unknownClient = createClient({ ...strict.access, credentials });
  const anonymous = createClient({ ...strict.access, credentials: { kind: 'none' } });

  expect((await known.version()).gitVersion).toBe('v1.36.3');
  expect(await failureOf(unknownClient.version())).toMatchObject({ reason: 'Unauthorized' });
  expect(await failureOf(anonymous.version())).toMatchObject({ reason: 'Unauthorized' });
});
