import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  buildAttribute,
  buildMessage,
  parseAcknowledgement,
  parseAttributes,
  parseMessages,
  parseText,
} from './netlink-message.ts';
import { TYPE } from './rtnetlink.ts';

const bytes = fc.uint8Array({ maxLength: 70 }).map((array) => Buffer.from(array));
const number = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });

test('a message starts with length, type, flags, sequence and no port', () => {
  const body = Buffer.from([9, 8, 7, 6]);

  const message = buildMessage({ type: 20, flags: 0x605, sequence: 3, body });

  expect(message.toString('hex')).toBe(
    '14000000' + '1400' + '0506' + '03000000' + '00000000' + '09080706',
  );
});

test('an attribute is filled up to four bytes, which its length does not count', () => {
  expect(buildAttribute(3, Buffer.from('lo\0')).toString('hex')).toBe('07000300' + '6c6f0000');
});

test('reads the messages of one datagram as they were written', () => {
  const message = fc.record({
    type: number(16),
    flags: number(16),
    sequence: number(32),
    body: bytes.map((body) => body.subarray(0, body.length & ~3)),
  });

  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
      const datagram = Buffer.concat(messages.map(buildMessage));

      expect(parseMessages(datagram)).toEqual(messages);
    }),
  );
});

test('reads attributes as they were written', () => {
  const attributes = fc.uniqueArray(fc.tuple(number(14), bytes), { selector: ([type]) => type });

  fc.assert(
    fc.property(attributes, (all) => {
      const written = Buffer.concat(all.map(([type, value]) => buildAttribute(type, value)));

      expect([...parseAttributes(written)]).toEqual(all);
    }),
  );
});

test('the two upper bits of a type are not part of it', () => {
  const nested = buildAttribute(0x8000 | 0x4000 | 5, Buffer.from('x'));

  expect([...parseAttributes(nested).keys()]).toEqual([5]);
});

test('terminates for any bytes, with their messages or a RangeError', () => {
  fc.assert(
    fc.property(bytes, (any) => {
      for (const parse of [parseMessages, parseAttributes]) {
        try {
          parse(any);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['a length of 0', '00000000' + '00'.repeat(12)],
  ['a length below the header', '0f000000' + '00'.repeat(12)],
  ['more than there is', '15000000' + '00'.repeat(16)],
  ['half a header', '1000000002'],
])('refuses a message with %s', (_, hex) => {
  expect(() => parseMessages(Buffer.from(hex, 'hex'))).toThrow(RangeError);
});

const request = Buffer.concat([
  buildMessage({ type: 20, flags: 5, sequence: 1, body: Buffer.from('12345678') }),
]);
const words = buildAttribute(1, Buffer.from('ipv6: IPv6 is disabled on this device.\0'));
const acknowledge = (errno: number, flags: number, rest: Buffer) => {
  const code = Buffer.alloc(4);
  code.writeInt32LE(-errno);
  return { type: TYPE.ERROR, flags, sequence: 1, body: Buffer.concat([code, rest]) };
};

test('an acknowledgement without an error is success', () => {
  expect(parseAcknowledgement(acknowledge(0, 0x100, request.subarray(0, 16)))).toEqual({
    errno: 0,
    text: undefined,
  });
});

test('reads the words of the kernel behind the request, and behind its header alone', () => {
  const text = 'ipv6: IPv6 is disabled on this device.';

  const whole = acknowledge(13, 0x200, Buffer.concat([request, words]));
  const capped = acknowledge(13, 0x300, Buffer.concat([request.subarray(0, 16), words]));

  expect(parseAcknowledgement(whole)).toEqual({ errno: 13, text });
  expect(parseAcknowledgement(capped)).toEqual({ errno: 13, text });
});

test('the end of a list can be a failure too, and carries no request', () => {
  const done = { ...acknowledge(16, 0x202, Buffer.alloc(0)), type: TYPE.DONE };

  expect(parseAcknowledgement(done)).toEqual({ errno: 16, text: undefined });
});

test('text ends at its zero byte, or where the bytes end', () => {
  expect(parseText(Buffer.from('lo\0\0'))).toBe('lo');
  expect(parseText(Buffer.from('eth0'))).toBe('eth0');
});
