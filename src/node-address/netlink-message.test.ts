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

test('encodes length, type, flags, sequence and a port of 0', () => {
  const body = Buffer.from([9, 8, 7, 6]);

  const message = buildMessage({ type: 20, flags: 0x605, sequence: 3, body });

  expect(message.toString('hex')).toBe(
    '14000000' + '1400' + '0506' + '03000000' + '00000000' + '09080706',
  );
});

test('pads an attribute to four bytes, without counting the padding', () => {
  expect(buildAttribute(3, Buffer.from('lo\0')).toString('hex')).toBe('07000300' + '6c6f0000');
});

test('round-trips the messages of one datagram', () => {
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

test('round-trips attributes', () => {
  const attributes = fc.uniqueArray(fc.tuple(number(14), bytes), { selector: ([type]) => type });

  fc.assert(
    fc.property(attributes, (all) => {
      const written = Buffer.concat(all.map(([type, value]) => buildAttribute(type, value)));

      expect([...parseAttributes(written)]).toEqual(all);
    }),
  );
});

test('ignores the two upper bits of an attribute type', () => {
  const nested = buildAttribute(0x8000 | 0x4000 | 5, Buffer.from('x'));

  expect([...parseAttributes(nested).keys()]).toEqual([5]);
});

test('returns messages or throws a RangeError for any bytes', () => {
  fc.assert(
    fc.property(bytes, (input) => {
      for (const parse of [parseMessages, parseAttributes]) {
        try {
          parse(input);
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
  ['a length beyond the end', '15000000' + '00'.repeat(16)],
  ['half a header', '1000000002'],
])('rejects a message with %s', (_, hex) => {
  expect(() => parseMessages(Buffer.from(hex, 'hex'))).toThrow(RangeError);
});

const request = Buffer.concat([
  buildMessage({ type: 20, flags: 5, sequence: 1, body: Buffer.from('12345678') }),
]);
const messageAttribute = buildAttribute(1, Buffer.from('ipv6: IPv6 is disabled on this device.\0'));
const acknowledge = (errno: number, flags: number, rest: Buffer) => {
  const code = Buffer.alloc(4);
  code.writeInt32LE(-errno);
  return { type: TYPE.ERROR, flags, sequence: 1, body: Buffer.concat([code, rest]) };
};

test('reads an acknowledgement without an error as success', () => {
  expect(parseAcknowledgement(acknowledge(0, 0x100, request.subarray(0, 16)))).toEqual({
    errno: 0,
    text: undefined,
  });
});

test('reads the message of the kernel after the whole request, and after its header only', () => {
  const text = 'ipv6: IPv6 is disabled on this device.';

  const whole = acknowledge(13, 0x200, Buffer.concat([request, messageAttribute]));
  const capped = acknowledge(13, 0x300, Buffer.concat([request.subarray(0, 16), messageAttribute]));

  expect(parseAcknowledgement(whole)).toEqual({ errno: 13, text });
  expect(parseAcknowledgement(capped)).toEqual({ errno: 13, text });
});

test('reads the error at the end of a list, which contains no request', () => {
  const done = { ...acknowledge(16, 0x202, Buffer.alloc(0)), type: TYPE.DONE };

  expect(parseAcknowledgement(done)).toEqual({ errno: 16, text: undefined });
});

test('text ends at its zero byte or at the end of the bytes', () => {
  expect(parseText(Buffer.from('lo\0\0'))).toBe('lo');
  expect(parseText(Buffer.from('eth0'))).toBe('eth0');
});
