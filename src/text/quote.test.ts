import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { quoted } from './quote.ts';

describe('the message of a server', () => {
  test('is quoted in one line', () => {
    expect(quoted('no: \r\n\t not you\u0000\u001b[31m ')).toBe('no: not you [31m');
  });

  test('has no bidirectional controls', () => {
    expect(quoted('image \u202e1:tekcins\u202c\u2066 x')).toBe('image 1:tekcins x');
  });

  test('is truncated if it is long, with an ellipsis', () => {
    expect(quoted('a'.repeat(300))).toBe('a'.repeat(300));
    expect(quoted('a'.repeat(301))).toBe(`${'a'.repeat(299)}…`);
    expect(quoted(`a${' '.repeat(2000)}b`)).toBe('a…');
  });

  test('is always short and well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(1000), (piece, times) => {
        const quote = quoted(piece.repeat(times));

        expect(quote.length).toBeLessThanOrEqual(300);
        expect(quote).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      }),
    );
  });
});
