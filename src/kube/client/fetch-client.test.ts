import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { until } from '../../net/testing/peer.ts';
import type { KubeClient } from './client.ts';
import { createClient } from './fetch-client.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { errorOf } from '../transport/testing/lab.ts';
import { startServer, type TestServer } from '../transport/testing/server.ts';

const { service, node, daemonSet, exposure } = RESOURCES;
const BLUE = { name: 'blue', namespace: 'tenants' };

let server: TestServer;
let client: KubeClient;

beforeEach(async () => {
  server = await startServer((exchange) => exchange.respond(200, object('blue')));
  client = createClient({
    server: server.url,
    credentials: { kind: 'none' },
    namespace: 'default',
  });
});

afterEach(async () => server[Symbol.asyncDispose]());

function object(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'tenants' } };
}

function notFound(): object {
  return { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' };
}

/** Returns the last request. */
function lastRequest() {
  const { verb, path, query, headers, body } = server.exchanges.at(-1)!;
  return {
    verb,
    path,
    query: Object.fromEntries(query),
    contentType: headers.get('content-type'),
    body: body === '' ? undefined : (JSON.parse(body) as unknown),
  };
}

describe('an object', () => {
  test('is read by its path', async () => {
    const found = await client.get(service, BLUE);

    expect(found).toEqual(object('blue'));
    expect(lastRequest()).toMatchObject({
      verb: 'GET',
      path: '/api/v1/namespaces/tenants/services/blue',
      query: {},
    });
  });

  test('that is cluster-scoped has no namespace in its path', async () => {
    await client.get(node, { name: 'worker-1' });

    expect(lastRequest().path).toBe('/api/v1/nodes/worker-1');
  });

  test('that does not exist is undefined, and deleting it returns false', async () => {
    server.script = (exchange) => exchange.respond(404, notFound());

    expect(await client.get(service, BLUE)).toBeUndefined();
    expect(await client.delete(service, BLUE)).toBe(false);
  });

  test('is created in its namespace', async () => {
    await client.create(service, object('blue'));

    expect(lastRequest()).toEqual({
      verb: 'POST',
      path: '/api/v1/namespaces/tenants/services',
      query: { fieldManager: 'snicket' },
      contentType: 'application/json',
      body: object('blue'),
    });
  });

  test('is replaced, or only its status', async () => {
    await client.replace(daemonSet, object('blue'));
    const wholeObject = lastRequest();
    await client.replace(daemonSet, object('blue'), { subresource: 'status' });

    expect(wholeObject).toMatchObject({
      verb: 'PUT',
      path: '/apis/apps/v1/namespaces/tenants/daemonsets/blue',
    });
    expect(lastRequest().path).toBe('/apis/apps/v1/namespaces/tenants/daemonsets/blue/status');
  });

  test('is applied as the field manager of the client', async () => {
    await client.apply(object('blue'));
    const plain = lastRequest();
    await client.apply(object('blue'), { force: true, dryRun: true, subresource: 'status' });

    expect(plain).toEqual({
      verb: 'PATCH',
      path: '/api/v1/namespaces/tenants/services/blue',
      query: { fieldManager: 'snicket' },
      contentType: 'application/apply-patch+yaml',
      body: object('blue'),
    });
    expect(lastRequest()).toMatchObject({
      path: '/api/v1/namespaces/tenants/services/blue/status',
      query: { fieldManager: 'snicket', force: 'true', dryRun: 'All' },
    });
  });

  test('of a kind that only the caller knows can be applied', async () => {
    const resource = {
      apiVersion: 'kamaji.clastix.io/v1alpha1',
      kind: 'TenantControlPlane',
      plural: 'tenantcontrolplanes',
      namespaced: true,
    };

    await client.apply({ ...resource, metadata: BLUE }, { resource });

    expect(lastRequest().path).toBe(
      '/apis/kamaji.clastix.io/v1alpha1/namespaces/tenants/tenantcontrolplanes/blue',
    );
  });

  test.each([
    ['merge', 'application/merge-patch+json', { a: 1 }],
    ['json', 'application/json-patch+json', [{ op: 'remove', path: '/a' }]],
  ] as const)('accepts a %s patch', async (type, contentType, body) => {
    await client.patch(exposure, BLUE, type, body, { subresource: 'status' });

    expect(lastRequest()).toEqual({
      verb: 'PATCH',
      path: '/apis/snicket.dev/v1alpha1/namespaces/tenants/exposures/blue/status',
      query: { fieldManager: 'snicket' },
      contentType,
      body,
    });
  });

  test('is deleted with the uid and resourceVersion as preconditions', async () => {
    server.script = (exchange) => exchange.respond(200, { kind: 'Status', status: 'Success' });

    const existed = await client.delete(service, BLUE, { uid: 'u', resourceVersion: '7' });

    expect(existed).toBe(true);
    expect(lastRequest()).toMatchObject({
      verb: 'DELETE',
      body: {
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { uid: 'u', resourceVersion: '7' },
      },
    });
  });

  test.each(['', '.', '..'])(
    'cannot have the name "%s", which would change the path',
    async (name) => {
      const error = await errorOf(client.delete(service, { name, namespace: 'tenants' }));

      expect(error.reason).toBe('Invalid');
      expect(server.exchanges).toHaveLength(0);
    },
  );

  test('with a slash in its name has an encoded path', async () => {
    await client.get(service, { name: 'a/../b', namespace: 'x?y' });

    expect(lastRequest().path).toBe('/api/v1/namespaces/x%3Fy/services/a%2F..%2Fb');
  });

  test('of a namespaced kind requires a namespace', async () => {
    const error = await errorOf(client.get(service, { name: 'blue' }));

    expect(error.message).toContain('Service blue requires a namespace');
  });

  test('is rejected if the response is something else', async () => {
    server.script = (exchange) => exchange.respond(200, { kind: 'ServiceList' });

    expect((await errorOf(client.get(service, BLUE))).reason).toBe('Malformed');
  });
});

describe('a list', () => {
  /** Serves these names with a page size of two. */
  function serve(...names: readonly string[]): void {
    server.script = ({ query, respond: response }) => {
      const start = Number(query.get('continue') ?? 0);
      const end = start + 2;
      response(200, {
        kind: 'ServiceList',
        metadata: {
          resourceVersion: '7',
          ...(end < names.length ? { continue: String(end) } : {}),
        },
        items: names.slice(start, end).map((name) => ({ metadata: { name } })),
      });
    };
  }

  test('contains all pages, and each item has its apiVersion and kind', async () => {
    serve('a', 'b', 'c', 'd', 'e');

    const { items, resourceVersion } = await client.list(service, { labelSelector: 'app=x' });

    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(items[4]).toEqual({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'e' } });
    expect(resourceVersion).toBe('7');
    expect(server.exchanges.map(({ path, query }) => [path, Object.fromEntries(query)])).toEqual([
      ['/api/v1/services', { limit: '500', labelSelector: 'app=x' }],
      ['/api/v1/services', { limit: '500', labelSelector: 'app=x', continue: '2' }],
      ['/api/v1/services', { limit: '500', labelSelector: 'app=x', continue: '4' }],
    ]);
  });

  test('contains the trimmed objects', async () => {
    serve('a', 'b', 'c');
    const trim = (found: KubeObject) => ({
      ...found,
      metadata: { name: found.metadata.name + '!' },
    });

    const { items } = await client.list(service, { trim });

    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a!', 'b!', 'c!']);
  });

  test('can be limited to a namespace', async () => {
    serve();

    await client.list(service, { namespace: 'tenants', fieldSelector: 'metadata.name=blue' });

    expect(lastRequest()).toMatchObject({
      path: '/api/v1/namespaces/tenants/services',
      query: { fieldSelector: 'metadata.name=blue' },
    });
  });

  test('may have null for its items, as Go writes it', async () => {
    server.script = ({ respond: response }) =>
      response(200, { metadata: { resourceVersion: '1' }, items: null });

    expect(await client.list(service)).toEqual({ items: [], resourceVersion: '1' });
  });

  test('that expires half way starts over', async () => {
    serve('a', 'b', 'c');
    const working = server.script;
    server.script = (exchange) => {
      if (server.exchanges.length !== 2) return working(exchange);
      exchange.respond(410, { kind: 'Status', reason: 'Expired' });
    };

    const { items } = await client.list(service);

    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(server.exchanges.map(({ query }) => query.get('continue'))).toEqual([
      null,
      '2',
      null,
      '2',
    ]);
  });

  test('that always expires half way fails in the end', async () => {
    serve('a', 'b', 'c');
    const working = server.script;
    server.script = (exchange) => {
      if (!exchange.query.has('continue')) return working(exchange);
      exchange.respond(410, { kind: 'Status', reason: 'Expired' });
    };

    expect((await errorOf(client.list(service))).reason).toBe('Expired');
    expect(server.exchanges).toHaveLength(6);
  });

  test('with endless pages fails', async () => {
    server.script = ({ respond: response }) =>
      response(200, { metadata: { resourceVersion: '1', continue: 'x' }, items: [] });

    const error = await errorOf(client.list(service));

    expect(error.message).toContain('more than 1000 pages');
  }, 240_000);

  test.each([
    ['an object of items', { metadata: { resourceVersion: '1' }, items: {} }],
    ['a list without a version', { metadata: {}, items: [] }],
    ['a list of items without a name', { metadata: { resourceVersion: '1' }, items: [{}] }],
    ['null', null],
  ])('is rejected if it is %s', async (_, response) => {
    server.script = (exchange) => exchange.respond(200, response);

    expect((await errorOf(client.list(service))).reason).toBe('Malformed');
  });

  test('of a kind that is not served is an error', async () => {
    server.script = (exchange) => exchange.respond(404, '404 page not found');

    expect((await errorOf(client.list(service))).reason).toBe('NotFound');
  });
});

describe('a watch', () => {
  const event = (name: string) => `${JSON.stringify({ type: 'ADDED', object: object(name) })}\n`;

  test('requests bookmarks and a duration of five to ten minutes', async () => {
    server.script = (exchange) => {
      exchange.open();
      exchange.finish();
    };

    await Array.fromAsync(client.watch(service, { resourceVersion: '7', namespace: 'tenants' }));

    const { path, query } = lastRequest();
    expect(path).toBe('/api/v1/namespaces/tenants/services');
    expect(query).toMatchObject({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
    });
    expect(Number(query['timeoutSeconds'])).toBeGreaterThanOrEqual(300);
    expect(Number(query['timeoutSeconds'])).toBeLessThanOrEqual(600);
  });

  test('reports that it is open before the first event', async () => {
    server.script = (exchange) => exchange.open();
    const abort = new AbortController();
    const { promise: opened, resolve: onOpen } = Promise.withResolvers<void>();
    const options = { resourceVersion: '7', signal: abort.signal, onOpen };
    const watching = errorOf(Array.fromAsync(client.watch(service, options)));

    await opened;
    abort.abort();

    expect((await watching).reason).toBe('Aborted');
    await until(() => server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('yields events as they arrive', async () => {
    server.script = (exchange) => {
      exchange.open();
      exchange.write(event('a').slice(0, 20));
    };
    const events = client.watch(service, { resourceVersion: '7' })[Symbol.asyncIterator]();
    const first = events.next();
    await until(() => server.exchanges.length === 1, 'it has begun');

    server.exchanges[0]!.write(event('a').slice(20) + event('b'));

    expect((await first).value).toEqual({ type: 'ADDED', object: object('a') });
    expect((await events.next()).value).toEqual({ type: 'ADDED', object: object('b') });
    await events.return?.();
    await until(() => server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('that breaks is an error, and one that the server ends is not', async () => {
    server.script = (exchange) => {
      exchange.open();
      exchange.write(event('a'));
      setTimeout(() => (server.exchanges.length === 1 ? exchange.finish() : exchange.reset()), 10);
    };

    const ended = await Array.fromAsync(client.watch(service, { resourceVersion: '7' }));
    const broken = await errorOf(Array.fromAsync(client.watch(service, { resourceVersion: '7' })));

    expect(ended).toHaveLength(1);
    expect(broken.reason).toBe('Unreachable');
  });

  test('from an old version is Expired, whether the response or an event reports it', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    server.script = (exchange) => exchange.respond(410, status);
    const byResponse = await errorOf(
      Array.fromAsync(client.watch(service, { resourceVersion: '1' })),
    );
    server.script = (exchange) => {
      exchange.open();
      exchange.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    };
    const byEvent = await errorOf(Array.fromAsync(client.watch(service, { resourceVersion: '1' })));

    expect([byResponse.reason, byEvent.reason]).toEqual(['Expired', 'Expired']);
  });
});

describe('discovery returns', () => {
  test('the plural names of a version, without subresources', async () => {
    const resources = [{ name: 'tlsroutes' }, { name: 'tlsroutes/status' }, { name: 'gateways' }];
    server.script = ({ respond: response }) =>
      response(200, { kind: 'APIResourceList', resources });

    const plurals = await client.discoverPlurals('gateway.networking.k8s.io/v1');

    expect(plurals).toEqual(new Set(['tlsroutes', 'gateways']));
    expect(lastRequest().path).toBe('/apis/gateway.networking.k8s.io/v1');
  });

  test('nothing for a group that is not served', async () => {
    server.script = ({ respond: response }) => response(404, '404 page not found');

    expect(await client.discoverPlurals('traefik.io/v1alpha1')).toEqual(new Set());
  });

  test('the version of the server', async () => {
    server.script = ({ respond: response }) => response(200, { gitVersion: 'v1.36.0', major: '1' });

    expect(await client.version()).toEqual({ gitVersion: 'v1.36.0' });
  });
});
