import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { handshake, record } from '../../wire/hello/hello-builder.ts';
import { MESSAGES, RecordLog } from './record-log.ts';

const APPLICATION_DATA = 23;
const ALERT = 21;

function logOf(bytes: Buffer, sizes: readonly number[]): RecordLog {
  const log = new RecordLog();
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    log.add(bytes.subarray(at, at + size));
    at += size;
  }
  return log;
}

const anySizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

test('finds messages regardless of how bytes and records are split', () => {
  const messages = Buffer.concat([
    handshake(MESSAGES.serverHello, Buffer.alloc(70)),
    handshake(11, Buffer.alloc(900)),
    handshake(MESSAGES.certificateRequest, Buffer.alloc(30)),
    handshake(14, Buffer.alloc(0)),
  ]);
  const half = messages.length >> 1;
  const bytes = Buffer.concat([
    record(messages.subarray(0, half)),
    record(messages.subarray(half)),
  ]);

  fc.assert(
    fc.property(anySizes, (sizes) => {
      const types = logOf(bytes, sizes).messageTypes();

      expect(types).toEqual([MESSAGES.serverHello, 11, MESSAGES.certificateRequest, 14]);
    }),
  );
});

test.each([
  ['an alert of TLS 1.2', record(Buffer.alloc(26), ALERT), true],
  ['a sealed alert of TLS 1.3', record(Buffer.alloc(19), APPLICATION_DATA), true],
  ['data', record(Buffer.alloc(20), APPLICATION_DATA), false],
  ['a message of the handshake', record(Buffer.alloc(19)), false],
  ['an alert that is cut off', record(Buffer.alloc(19), APPLICATION_DATA).subarray(0, 20), false],
  ['half a header', Buffer.from([ALERT, 3]), false],
])('reports whether %s after data is an alert: %#', (_, last, isAlert) => {
  const bytes = Buffer.concat([record(Buffer.alloc(300), APPLICATION_DATA), last]);

  fc.assert(
    fc.property(anySizes, (sizes) => {
      expect(logOf(bytes, sizes).endsWithAlert).toBe(isAlert);
    }),
  );
});

test('an empty log does not end with an alert', () => {
  expect(new RecordLog().endsWithAlert).toBe(false);
});
