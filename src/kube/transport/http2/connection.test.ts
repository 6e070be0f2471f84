import { beforeAll, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import type { Socket } from 'bun';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { Http2Connection } from './connection.ts';
import { FLAG, frame, FRAME, FrameReader, PREFACE, settingsFrame, type Frame } from './frames.ts';

const PING = frame(FRAME.ping, 0, 0, Buffer.from('12345678'));
const ACKNOWLEDGED = [
  { type: FRAME.settings, flags: FLAG.ack },
  { type: FRAME.ping, flags: FLAG.ack, payload: Buffer.from('12345678') },
];
const HALF_KIB = Buffer.alloc(512);

let certificate: X509Certificate;
beforeAll(async () => {
  const authority = await TestAuthority.create();
  certificate = new X509Certificate((await authority.issue({ names: ['kubernetes'] })).cert);
});

/** A connection whose socket the test plays. It has TLS, and no handshake yet. */
function connection({ isTrusted = true } = {}) {
  const written: Buffer[] = [];
  const socket = {
    authorized: isTrusted,
    alpnProtocol: 'h2',
    getPeerX509Certificate: () => certificate,
    setKeepAlive: () => true,
    terminate: () => {},
    write: (bytes: Uint8Array) => written.push(Buffer.from(bytes)) && bytes.length,
  } as unknown as Socket<Http2Connection>;
  const tls = { serverName: 'kubernetes', rejectUnauthorized: true };
  const pool = { changed: () => {}, speaksHttp1: () => {} };
  // The dial is refused later, when the test has ended.
  const target = { host: '127.0.0.1', port: 1, tls };
  const http2 = Http2Connection.open(target, new ManualClock(), pool);
  http2.connected(socket);
  return { http2, written, shake: () => http2.handshakeCompleted(socket, true, null) };
}

/** The frames after the preface. */
function framesIn(written: readonly Buffer[]): readonly Frame[] {
  const bytes = Buffer.concat(written);
  expect(bytes.subarray(0, PREFACE.length)).toEqual(PREFACE);
  return [...new FrameReader().push(bytes.subarray(PREFACE.length))];
}

test('frames that arrive before the server is verified are answered after the preface', () => {
  const { http2, written, shake } = connection();
  const early = Buffer.concat([settingsFrame([]), PING]);
  // The socket reuses the memory of received bytes.
  const memory = Buffer.alloc(10);
  for (let at = 0; at < early.length; at += memory.length) {
    const length = early.copy(memory, 0, at);
    http2.received(memory.subarray(0, length));
  }
  expect(written).toEqual([]);
  expect(http2.isReady).toBe(false);

  shake();

  expect(http2.isUsable).toBe(true);
  const [settings, window, ...rest] = framesIn(written);
  expect(settings).toMatchObject({ type: FRAME.settings, flags: 0 });
  expect(window).toMatchObject({ type: FRAME.windowUpdate });
  expect(rest).toMatchObject(ACKNOWLEDGED);
  http2.close();
});

test('nothing is sent to an untrusted server', () => {
  const { http2, written, shake } = connection({ isTrusted: false });
  http2.received(settingsFrame([]));
  http2.received(PING);

  shake();

  expect(written).toEqual([]);
  expect(http2.failure?.message).toBe('the handshake was not completed');
});

test('a server that sends more than 64 KiB before it is verified loses its connection', () => {
  const { http2, written } = connection();
  for (let half = 0; half < 128; half++) http2.received(HALF_KIB);
  expect(http2.failure).toBeUndefined();

  http2.received(HALF_KIB);

  expect(http2.failure?.message).toBe('the server sends too much before it is verified');
  expect(written).toEqual([]);
});
