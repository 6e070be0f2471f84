import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { Backend, type Peer } from '../net/testing/peer.ts';
import { requestHealth } from './proxy-health.ts';
import { httpText } from './testing/responses.ts';

const LIMITS = { timeoutMs: 20_000 };

/** Returns a listener in place of a proxy, which handles the first bytes of each connection with `answer`. */
function listener(answer: (peer: Peer) => unknown): Backend {
  return new Backend('127.0.0.1', (peer) => {
    peer.onData = () => {
      answer(peer);
    };
  });
}

function saying(text: string): Backend {
  return listener(async (peer) => peer.send(Buffer.from(text)));
}

test.each([
  ['ready', '200 OK', 'ok\n', true, 'ok'],
  ['not ready', '503 No', 'the edge is silent\n', false, 'the edge is silent'],
  ['not ready without a reason', '503 No', '', false, '/readyz answers 503'],
  ['another server with a long response', '404 No', 'x'.repeat(2000), false, 'x'.repeat(300)],
])('it is %s', async (_, status, body, isReady, message) => {
  using server = saying(httpText(status, {}, body));

  const health = await requestHealth('127.0.0.1', server.port, LIMITS);

  expect(health).toEqual({ at: `127.0.0.1:${server.port}`, isReady, message });
  expect(server.peers[0]?.bytes().toString()).toStartWith('GET /readyz HTTP/1.1\r\n');
});

test('a redirect means not ready, and is not followed', async () => {
  using target = saying(httpText('200 OK', {}, 'ok'));
  const location = `http://127.0.0.1:${target.port}/`;
  using server = saying(httpText('302 Found', { location }, 'over there'));

  const health = await requestHealth('127.0.0.1', server.port, LIMITS);

  expect(health).toMatchObject({ isReady: false, message: '/readyz answers 302' });
  expect(target.peers).toEqual([]);
});

test('an endless body is read up to a limit', async () => {
  const page = Buffer.alloc(64 * 1024, 'x');
  const { promise: hungUp, resolve } = Promise.withResolvers<void>();
  using server = listener(async (peer) => {
    await peer.send(Buffer.from('HTTP/1.1 503 No\r\n\r\n'));
    while (!peer.closed) await peer.send(page);
    resolve();
  });

  const health = await requestHealth('127.0.0.1', server.port, LIMITS);
  await hungUp;

  expect(health).toMatchObject({ isReady: false, message: 'x'.repeat(300) });
});

test('a compressed body is not decompressed', async () => {
  const packed = gzipSync('x'.repeat(100_000));
  const head = `HTTP/1.1 503 No\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`;
  using server = listener(async (peer) => peer.send(Buffer.concat([Buffer.from(head), packed])));

  const { isReady, message } = await requestHealth('127.0.0.1', server.port, LIMITS);

  expect(isReady).toBe(false);
  expect(message).not.toContain('xxxx');
});

test('a silent server is not ready', async () => {
  using server = listener(() => undefined);

  const { isReady, message } = await requestHealth('127.0.0.1', server.port, {
    timeoutMs: 100,
  });

  expect(isReady).toBe(false);
  expect(message).toBe(`no answer at 127.0.0.1:${server.port} in 100 ms`);
});

test.each([
  [
    'hangs up',
    (peer: Peer) => peer.close(),
    /^no answer at 127\.0\.0\.1:\d+: the connection ended$/,
  ],
  ['breaks off', (peer: Peer) => peer.reset(), /^no answer at 127\.0\.0\.1:\d+/],
  [
    'does not speak HTTP',
    async (peer: Peer) => peer.send(Buffer.from('SSH-2.0-x\r\n')),
    /^what answers at 127\.0\.0\.1:\d+ does not speak HTTP\/1$/,
  ],
])('a server that %s is not ready', async (_, answer, sentence) => {
  using server = listener(answer);

  const { isReady, message } = await requestHealth('127.0.0.1', server.port, LIMITS);

  expect(isReady).toBe(false);
  expect(message).toMatch(sentence);
});

test('a port without a listener is not ready', async () => {
  const { message } = await requestHealth('127.0.0.1', 1, LIMITS);

  expect(message).toBe('no answer at 127.0.0.1:1 (ECONNREFUSED)');
});

test('an aborted request throws the reason', async () => {
  using server = listener(() => undefined);
  const ended = new AbortController();
  const asking = requestHealth('127.0.0.1', server.port, { ...LIMITS, signal: ended.signal });

  ended.abort(new Error('no longer'));

  await expect(asking).rejects.toThrow('no longer');
});
