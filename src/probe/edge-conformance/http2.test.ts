import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { hasPingResponse, hasSettings, PING_REQUEST, SETTINGS_ACK } from './http2.ts';

test('settings and the answer to a ping are found among other frames', () => {
  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
  const pong = Buffer.from(PING_REQUEST);
  pong[4] = 1;

  const received = Buffer.concat([SETTINGS_ACK, settings, PING_REQUEST, pong]);

  expect(hasSettings(SETTINGS_ACK)).toBeUndefined();
  expect(hasSettings(received)).toBe(true);
  expect(hasPingResponse(Buffer.concat([settings, PING_REQUEST]))).toBeUndefined();
  expect(hasPingResponse(received)).toBe(true);
});

test('whatever comes, there is a decision', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      expect(() => hasPingResponse(Buffer.from(noise))).not.toThrow();
    }),
  );
});
