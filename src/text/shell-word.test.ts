import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { shellWord } from './shell-word.ts';

test.each(['state', '.', '/var/lib/snicket', 'a-b_c.d', 'a~1', 'v1.36.0+k0s'])(
  'does not quote %s',
  (text) => {
    expect(shellWord(text)).toBe(text);
  },
);

test('quotes text that a shell would split or expand', () => {
  expect(shellWord('/tmp/sp ace;x')).toBe("'/tmp/sp ace;x'");
  expect(shellWord("it's")).toBe("'it'\\''s'");
  expect(shellWord('~root')).toBe("'~root'");
  expect(shellWord('')).toBe("''");
});

test('a shell restores the original text', () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .filter((sample) => !sample.includes('\0'));
  fc.assert(
    fc.property(text, (original) => {
      const { stdout } = Bun.spawnSync(['sh', '-c', `printf %s ${shellWord(original)}`]);

      expect(stdout.toString()).toBe(original);
    }),
    { numRuns: 30 },
  );
});
