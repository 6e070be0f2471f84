import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { until } from '../../net/testing/peer.ts';
import { errorOf, TransportLab, VERSION } from './testing/lab.ts';
import type { Call } from './transport.ts';

const POD: Call = { verb: 'GET', path: '/api/v1/namespaces/a/pods/b' };

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

describe('an error response', () => {
  test.each([
    [400, 'BadRequest', 'Invalid'],
    [401, 'Unauthorized', 'Unauthorized'],
    [403, 'Forbidden', 'Forbidden'],
    [404, 'NotFound', 'NotFound'],
    [409, 'Conflict', 'Conflict'],
    [409, 'AlreadyExists', 'AlreadyExists'],
    [410, 'Expired', 'Expired'],
    [410, 'Gone', 'Expired'],
    [422, 'Invalid', 'Invalid'],
    [429, 'TooManyRequests', 'Throttled'],
    [500, 'InternalError', 'ServerError'],
    [503, 'ServiceUnavailable', 'ServerError'],
    [504, 'Timeout', 'ServerError'],
  ])('%d %s is %s', async (status, reason, expected) => {
    const body = { kind: 'Status', apiVersion: 'v1', code: status, reason, message: 'because' };
    lab.server.script = (exchange) => exchange.respond(status, body);

    const error = await errorOf(lab.transport().json(POD));

    expect(error).toMatchObject({ reason: expected, status });
    expect(error.message).toBe(
      `GET /api/v1/namespaces/a/pods/b at ${lab.server.url} ${status}: because`,
    );
  });

  test('has the causes of its Status', async () => {
    const causes = [
      { reason: 'FieldManagerConflict', message: 'conflict with "kubectl"', field: '.spec.a' },
    ];
    lab.server.script = (exchange) =>
      exchange.respond(409, { kind: 'Status', reason: 'Conflict', details: { causes } });

    expect((await errorOf(lab.transport().json(POD))).causes).toEqual(causes);
  });

  test('says when to retry, in its headers or in its body', async () => {
    const details = { retryAfterSeconds: 3 };
    lab.server.script = (exchange) => exchange.respond(429, { kind: 'Status', details });
    const inBody = await errorOf(lab.transport().json(POD));
    lab.server.script = (exchange) =>
      exchange.respond(429, { kind: 'Status', details }, { 'retry-after': '7' });
    const inHead = await errorOf(lab.transport().json(POD));

    expect([inBody.retryAfterMs, inHead.retryAfterMs]).toEqual([3000, 7000]);
  });

  test('from an intermediary is quoted, up to a limit', async () => {
    const page = `<html>\n<h1>Bad Gateway</h1>${'x'.repeat(1_000_000)}`;
    lab.server.script = (exchange) => exchange.respond(502, page);

    const error = await errorOf(lab.transport().json(POD));

    expect(error.message).toContain('502: <html> <h1>Bad Gateway</h1>xxx');
    expect(error.message.length).toBeLessThan(400);
  });

  test('quotes a Status and its causes up to the same limit', async () => {
    const long = 'x'.repeat(10_000);
    const details = { causes: [{ reason: long, message: long, field: long }] };
    lab.server.script = (exchange) =>
      exchange.respond(422, { kind: 'Status', message: `a\n\u001b${long}`, details });

    const error = await errorOf(lab.transport().json(POD));

    expect(error.message).toContain('422: a xxx');
    expect(error.message.length).toBeLessThan(400);
    expect(JSON.stringify(error.causes).length).toBeLessThan(1000);
  });

  test('does not contain the token, even if the server quotes it', async () => {
    const token = 'hunter2-hunter2';
    lab.server.script = (exchange) =>
      exchange.respond(403, `you sent ${exchange.headers.get('authorization')}`);

    const error = await errorOf(lab.transport({ credentials: { kind: 'token', token } }).json(POD));

    expect(error.message).toContain('you sent Bearer (token)');
    expect(Bun.inspect(error)).not.toContain(token);
  });

  test.each([
    ['with a JSON escape', '\\u0068unter2-hunter2'],
    ['with an invisible character in it', 'hunter2\\u202e-hunter2'],
  ])('does not reveal the token %s', async (_, written) => {
    const token = 'hunter2-hunter2';
    lab.server.script = (exchange) =>
      exchange.respond(403, `{"kind":"Status","message":"you sent ${written}","code":403}`);

    const error = await errorOf(lab.transport({ credentials: { kind: 'token', token } }).json(POD));

    expect(error.message).toEndWith('403: you sent (token)');
  });
});

describe('an invalid response', () => {
  test.each([
    ['not JSON', 'hunter2'],
    ['empty', ''],
  ])('%s', async (_, body) => {
    lab.server.script = (exchange) => exchange.respond(200, body);

    const error = await errorOf(lab.transport().json(VERSION));

    expect(error.reason).toBe('Malformed');
    expect(error.message).not.toContain('hunter2');
  });

  test('broken compression', async () => {
    lab.server.script = (exchange) => exchange.respond(200, '{}', { 'content-encoding': 'gzip' });

    expect((await errorOf(lab.transport().json(VERSION))).reason).toBe('Malformed');
  });

  test('an endless response is read up to 64 MiB', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    lab.server.script = (exchange) => {
      exchange.open();
      for (let count = 0; count < 80; count++) exchange.write(chunk);
    };

    const error = await errorOf(lab.transport().json(VERSION));

    expect(error.reason).toBe('Malformed');
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('a reset', async () => {
    lab.server.script = (exchange) => exchange.reset();

    const error = await errorOf(lab.transport().json({ verb: 'POST', path: '/x', body: {} }));

    expect(error.reason).toBe('Unreachable');
    expect(error.message).toBe(`POST /x at ${lab.server.url}: ECONNRESET`);
  });

  test('half of a response', async () => {
    lab.server.script = (exchange) => {
      exchange.open();
      exchange.write('{"a":');
      setTimeout(() => exchange.reset(), 10);
    };

    expect((await errorOf(lab.transport().json(VERSION))).reason).toBe('Unreachable');
  });

  test('no listener', async () => {
    await lab.server[Symbol.asyncDispose]();

    const error = await errorOf(lab.transport().json(VERSION));

    expect(error).toMatchObject({ reason: 'Unreachable', status: undefined });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test.each([
    ['an alert of TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 112])],
    ['no TLS', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s', async (_, response) => {
    const plain = createServer((socket) => socket.once('data', () => socket.end(response)));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const server = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`;

    const error = await errorOf(lab.transport({ server }).json(VERSION));

    plain.close();
    expect(error.reason).toBe('Unreachable');
    expect(error.message).toStartWith(
      `GET /version at ${server}: TLS handshake failed (EPROTO): check that the server speaks TLS`,
    );
  });

  test('an unknown host', async () => {
    const error = await errorOf(lab.transport({ server: 'https://tenant.invalid' }).json(VERSION));

    expect(error.reason).toBe('Unreachable');
  });
});
