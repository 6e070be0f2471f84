import { expect, test } from 'bun:test';
import { terminalPicture } from './terminal-picture.ts';

test('draws colors, bold and dim text, and aligns columns', () => {
  const picture = terminalPicture(
    ['HOP   \u001B[1;32mPass\u001B[0m  a<b', '\u001B[2m  x\u001B[22m \u001B[31my\u001B[39m z'],
    'a & b',
  );

  expect(picture).toContain('<title>a &amp; b</title>');
  expect(picture).toContain('fill="#7ee787" font-weight="bold">Pass</text>');
  expect(picture).toContain('>a&lt;b</text>');
  expect(picture).toContain('opacity="0.6">x</text>');
  expect(picture).toContain('fill="#ff7b72">y</text>');
  // "Pass" begins in column 6, "x" in column 2.
  const xOf = (text: string) =>
    Number(new RegExp(`x="([^"]+)"[^>]*>${text}</text>`).exec(picture)?.[1]);
  expect(xOf('Pass') - xOf('HOP')).toBeCloseTo(6 * 14 * 0.602, 1);
  expect(xOf('x') - xOf('HOP')).toBeCloseTo(2 * 14 * 0.602, 1);
  expect(xOf('z') - xOf('y')).toBeCloseTo(2 * 14 * 0.602, 1);
});
