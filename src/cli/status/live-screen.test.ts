import { expect, test } from 'bun:test';
import { TestIo } from '../testing/test-io.ts';
import { LiveScreen } from './live-screen.ts';

function screenOf(rows: number) {
  const io = new TestIo({ columns: 80 });
  io.stdout.rows = rows;
  return { screen: new LiveScreen(io), written: io.stdout.written };
}

test('draws over the previous text, and writes nothing without a change', () => {
  const { screen, written } = screenOf(24);
  using _ = screen;

  screen.draw('a\nb\n');
  screen.draw('a\nb\n');

  expect(written.slice(1)).toEqual([
    '\u001B[?2026h\u001B[Ha\u001B[K\r\nb\u001B[K\u001B[J\u001B[?2026l',
  ]);
});

test('prints the number of lines that do not fit', () => {
  const { screen, written } = screenOf(3);
  using _ = screen;

  screen.draw('a\nb\nc\nd\n');

  expect(Bun.stripANSI(written.at(-1) ?? '')).toBe('a\r\nb\r\n... 2 more lines');
});

test('restores the terminal once, and writes nothing afterwards', () => {
  const { screen, written } = screenOf(24);

  screen[Symbol.dispose]();
  screen[Symbol.dispose]();
  screen.draw('a');

  expect(written).toEqual(['\u001B[?1049h\u001B[?25l', '\u001B[?25h\u001B[?1049l']);
});
