import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { until } from '../../net/testing/peer.ts';
import type { ClientLimits } from './client-limits.ts';
import type { KubeClient } from './client.ts';
import { createClient } from './fetch-client.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { errorOf } from '../transport/testing/lab.ts';
import { startServer, type TestServer } from '../transport/testing/server.ts';

const { service, node } = RESOURCES;
const BLUE = { name: 'blue', namespace: 'tenants' };

let server: TestServer;
let client: KubeClient;

beforeEach(async () => {
  server = await startServer((exchange) => exchange.respond(200, { metadata: BLUE }));
  client = createClient(access());
});

afterEach(async () => server[Symbol.asyncDispose]());

function access() {
  return { server: server.url, credentials: { kind: 'none' }, namespace: 'default' } as const;
}

describe('a token in the response of a server', () => {
  const token = 'hunter2-hunter2';
  let authorized: KubeClient;

  beforeEach(() => {
    authorized = createClient({ ...access(), credentials: { kind: 'token', token } });
  });

  test('is not returned as a version', async () => {
    server.script = (exchange) => exchange.respond(200, { gitVersion: `v1.2.3+${token}` });

    expect(await authorized.version()).toEqual({ gitVersion: 'v1.2.3+(token)' });
  });

  test('is not quoted by the error of a watch', async () => {
    const status = { kind: 'Status', code: 500, message: `you sent ${token}` };
    server.script = (exchange) => {
      exchange.open();
      exchange.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    };
    const watch = authorized.watch(service, { resourceVersion: '1' });

    const error = await errorOf(watch[Symbol.asyncIterator]().next());

    expect(error.message).toEndWith('500: you sent (token)');
  });
});

describe('limits', () => {
  const LIMITS: ClientLimits = {
    responseBytes: 1000,
    listBytes: 1500,
    listPages: 3,
    pageObjects: 7,
    lineBytes: 200,
  };
  let limited: KubeClient;

  beforeEach(() => {
    limited = createClient(access(), { limits: LIMITS });
  });

  /** Returns a page of a little more than this size, with a continue token. */
  function page(bytes: number): object {
    return {
      metadata: { resourceVersion: '1', continue: 'more' },
      items: [],
      pad: 'x'.repeat(bytes),
    };
  }

  test('apply to the size of an object', async () => {
    server.script = (exchange) =>
      exchange.respond(200, { metadata: BLUE, pad: 'x'.repeat(LIMITS.responseBytes) });

    expect(await errorOf(limited.get(service, BLUE))).toMatchObject({
      reason: 'Malformed',
      message: expect.stringContaining('more than 1000 bytes (responseBytes)') as string,
    });
  });

  test('apply to all pages of a list together', async () => {
    server.script = (exchange) => exchange.respond(200, page(600));

    const error = await errorOf(limited.list(service));

    expect(error.reason).toBe('Malformed');
    expect(error.message).toContain('a list of more than 1500 bytes (listBytes)');
    expect(server.exchanges).toHaveLength(3);
  });

  test('apply to the number of pages', async () => {
    server.script = (exchange) => exchange.respond(200, page(0));

    const error = await errorOf(limited.list(service));

    expect(error.reason).toBe('Malformed');
    expect(error.message).toContain('a list of more than 3 pages (listPages)');
    expect(server.exchanges[0]!.query.get('limit')).toBe('7');
  });

  test('apply to a list of the first objects, which is one page', async () => {
    server.script = (exchange) =>
      exchange.respond(200, {
        metadata: { resourceVersion: '1', continue: 'more' },
        items: [{ metadata: BLUE }, { metadata: BLUE }],
      });

    const { items } = await limited.list(service, { limit: 1 });

    expect(items).toHaveLength(1);
    expect(server.exchanges.map(({ query }) => query.get('limit'))).toEqual(['1']);
  });

  test('apply to an event before its end has arrived', async () => {
    server.script = (exchange) => {
      exchange.open();
      exchange.write(`{"type":"${'x'.repeat(LIMITS.lineBytes)}`);
    };

    const error = await errorOf(Array.fromAsync(limited.watch(service, { resourceVersion: '1' })));

    expect(error.reason).toBe('Malformed');
    expect(error.message).toContain('a line exceeds 200 bytes (lineBytes)');
    await until(() => server.exchanges[0]!.isClosed, 'the connection is released');
  });
});

describe('the status of a kubelet', () => {
  test('is returned without reading a body that does not end', async () => {
    server.script = (exchange) => {
      exchange.open();
      exchange.write('x'.repeat(1_000_000));
    };

    expect(await client.kubeletStatus('worker-1')).toBe(200);

    expect(server.exchanges[0]!.path).toBe('/api/v1/nodes/worker-1/proxy/healthz');
    await until(() => server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test.each([401, 403, 500])(
    'is returned for a refusal with status %d and any text',
    async (status) => {
      server.script = (exchange) => exchange.respond(status, 'x'.repeat(1_000_000));

      expect(await client.kubeletStatus('worker-1')).toBe(status);
    },
  );

  test.each([401, 403, 500, 503])('is no Status of the API server with code %d', async (code) => {
    const message = 'error trying to reach service: No agent available';
    server.script = (exchange) => exchange.respond(code, { kind: 'Status', code, message });

    expect(await errorOf(client.kubeletStatus('worker-1'))).toMatchObject({
      status: code,
      statusMessage: message,
    });
  });

  test('is no error of the connection', async () => {
    server.script = (exchange) => exchange.reset();

    expect((await errorOf(client.kubeletStatus('worker-1'))).reason).toBe('Unreachable');
  });

  test('cannot be requested for a name that would change the path', async () => {
    expect((await errorOf(client.kubeletStatus('..'))).reason).toBe('Invalid');
    expect(server.exchanges).toEqual([]);
  });
});

describe('an object from a server', () => {
  test.each<[string, unknown]>([
    ['null instead of fields', null],
    ['no metadata', { kind: 'Service' }],
    ['metadata that is null', { metadata: null }],
    ['no name', { metadata: { namespace: 'tenants' } }],
    ['an empty name', { metadata: { name: '' } }],
    ['a namespace that is not a string', { metadata: { name: 'blue', namespace: {} } }],
    ['a resourceVersion that is not a string', { metadata: { name: 'blue', resourceVersion: 7 } }],
    ['a kind that is not a string', { kind: {}, metadata: { name: 'blue' } }],
  ])('with %s is malformed, alone and in lists and watches', async (_, malformed) => {
    server.script = (exchange) => {
      if (exchange.query.has('watch')) {
        exchange.open();
        exchange.write(`${JSON.stringify({ type: 'ADDED', object: malformed })}\n`);
      } else if (exchange.path.endsWith('/blue')) exchange.respond(200, malformed);
      else exchange.respond(200, { metadata: { resourceVersion: '1' }, items: [malformed] });
    };

    const errors = await Promise.all([
      errorOf(client.get(service, BLUE)),
      errorOf(client.list(service)),
      errorOf(Array.fromAsync(client.watch(service, { resourceVersion: '1' }))),
    ]);

    expect(errors.map(({ reason }) => reason)).toEqual(['Malformed', 'Malformed', 'Malformed']);
  });

  test('that the trim function cannot read is malformed, and the error names it', async () => {
    server.script = (exchange) =>
      exchange.respond(200, {
        metadata: { resourceVersion: '1' },
        items: [{ metadata: { name: 'worker-1', labels: null } }],
      });
    const trim = (found: KubeObject) => ({ ...found, names: Object.keys(found.metadata.labels!) });

    const error = await errorOf(client.list(node, { trim }));

    expect(error.reason).toBe('Malformed');
    expect(error.message).toStartWith('Node worker-1 is malformed:');
  });
});
