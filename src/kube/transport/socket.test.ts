import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { keepaliveMs } from '../../net/testing/keepalive.ts';
import { until } from '../../net/testing/peer.ts';
import { allOf, errorOf, tokenOf, TransportLab, VERSION } from './testing/lab.ts';
import type { Call } from './transport.ts';

const WATCH: Call = {
  verb: 'GET',
  path: '/api/v1/pods',
  query: { watch: 'true', none: undefined },
};

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

describe('a stream', () => {
  test('sends the same request as any other', async () => {
    const credentials = { kind: 'token', token: 'abc' } as const;
    const server = `${lab.server.url}/prefix`;

    await allOf(await lab.transport({ server, credentials }).stream(WATCH));

    const [asked] = lab.server.exchanges;
    expect(asked).toMatchObject({ verb: 'GET', path: '/prefix/api/v1/pods' });
    expect(asked!.query.toString()).toBe('watch=true');
    expect(asked!.headers.toJSON()).toEqual({
      host: new URL(lab.server.url).host,
      accept: 'application/json',
      'user-agent': 'snicket/test',
      authorization: 'Bearer abc',
    });
  });

  test('delivers more bytes than the buffers hold, in order', async () => {
    const parts = Array.from({ length: 200 }, (_, index) => Buffer.alloc(64 * 1024, index));
    lab.server.script = (exchange) => {
      exchange.open();
      for (const part of parts) exchange.write(part);
      exchange.finish();
    };

    const stream = await lab.transport().stream(WATCH);
    // The stream is not read for a while, as when a client is busy.
    await Bun.sleep(50);

    expect(Bun.hash(await allOf(stream))).toBe(Bun.hash(Buffer.concat(parts)));
  });

  test('sends a keepalive probe to a silent server after 30 s', async () => {
    lab.server.script = (exchange) => exchange.open();
    const stream = await lab.transport().stream(WATCH);

    const port = Number(new URL(lab.server.url).port);
    const timerMs = () => keepaliveMs(({ remotePort }) => remotePort === port);
    // While a byte is unacknowledged, the kernel shows the retransmission timer instead.
    await until(() => timerMs() !== undefined, 'the timer');

    // The rest of the interval, since the machine may pause for a while.
    expect(timerMs()).toBeGreaterThan(10_000);
    expect(timerMs()).toBeLessThanOrEqual(30_000);
    stream.close();
  });

  test('that is rejected has the reason', async () => {
    lab.server.script = (exchange) =>
      exchange.respond(429, { kind: 'Status', message: 'busy' }, { 'retry-after': '7' });

    const error = await errorOf(lab.transport().stream(WATCH));

    expect(error).toMatchObject({ reason: 'Throttled', retryAfterMs: 7000 });
    expect(error.message).toBe(`GET /api/v1/pods at ${lab.server.url} 429: busy`);
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('whose token is rejected is requested again with a new one', async () => {
    const path = join(lab.folder, 'token');
    writeFileSync(path, 'old');
    lab.server.script = (exchange) =>
      tokenOf(exchange) === 'new' ? exchange.respond(200, 'x') : exchange.respond(401, 'who?');
    const transport = lab.transport({ credentials: { kind: 'token-file', path } });
    await errorOf(transport.stream(WATCH));
    writeFileSync(path, 'new');

    expect((await allOf(await transport.stream(WATCH))).toString()).toBe('x');
    await until(
      () => lab.server.exchanges.every((exchange) => exchange.isClosed),
      'all are released',
    );
  });

  test('has the identity of its certificate', async () => {
    const { cert, key } = await lab.authority.issue({ commonName: 'blue' });
    const credentials = { kind: 'certificate', cert, key } as const;
    await using mutual = await lab.mutualServer();

    await allOf(await lab.transport({ server: mutual.url, credentials }).stream(WATCH));

    expect(mutual.exchanges[0]!.peer).toBe('blue');
  });
});

describe('a stream fails', () => {
  test('if no server listens', async () => {
    await lab.server[Symbol.asyncDispose]();

    const error = await errorOf(lab.transport().stream(VERSION));

    expect(error.reason).toBe('Unreachable');
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('if the host is unknown', async () => {
    const error = await errorOf(
      lab.transport({ server: 'https://tenant.invalid' }).stream(VERSION),
    );

    expect(error.reason).toBe('Unreachable');
  });

  test.each([
    ['hangs up', (end: () => void) => end(), 'Unreachable'],
    [
      'does not speak TLS',
      (_: () => void, write: (text: string) => void) => write('hello\r\n'),
      'Unreachable',
    ],
  ])('if another server listens, which %s', async (_, act, reason) => {
    const other = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      act(
        () => socket.end(),
        (text) => socket.end(text),
      );
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;

    const error = await errorOf(
      lab.transport({ server: `https://127.0.0.1:${port}` }).stream(VERSION),
    );
    other.close();

    expect(error.reason).toBe(reason as typeof error.reason);
  });

  test('if the caller aborts it during the handshake', async () => {
    const { promise: accepted, resolve } = Promise.withResolvers<void>();
    let isClosed = false;
    const silent = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (isClosed = true));
      socket.resume();
      resolve();
    });
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port } = silent.address() as AddressInfo;
    const abort = new AbortController();
    const transport = lab.transport({ server: `https://127.0.0.1:${port}` });
    const asking = errorOf(transport.stream({ ...VERSION, signal: abort.signal }));
    await accepted;

    abort.abort();

    expect((await asking).reason).toBe('Aborted');
    await until(() => isClosed, 'the connection is released');
    silent.close();
  });

  test('if the response is not HTTP', async () => {
    const plain = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;

    const error = await errorOf(
      lab.transport({ server: `http://127.0.0.1:${port}` }).stream(VERSION),
    );
    plain.close();

    expect(error.reason).toBe('Malformed');
  });
});
