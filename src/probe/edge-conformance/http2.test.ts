import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { hasPingAck, hasSettings, PING_REQUEST, SETTINGS_ACK } from './http2.ts';

test('finds SETTINGS and the PING ACK among other frames', () => {
  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
  const pingAck = Buffer.from(PING_REQUEST);
  pingAck[4] = 1;

  const received = Buffer.concat([SETTINGS_ACK, settings, PING_REQUEST, pingAck]);

  expect(hasSettings(SETTINGS_ACK)).toBe(false);
  expect(hasSettings(received)).toBe(true);
  expect(hasPingAck(Buffer.concat([settings, PING_REQUEST]))).toBe(false);
  expect(hasPingAck(received)).toBe(true);
});

test('does not throw on random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      expect(() => hasPingAck(Buffer.from(noise))).not.toThrow();
    }),
  );
});
