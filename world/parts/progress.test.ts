import { afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test';
import { formatElapsed, terminalProgress } from './progress.ts';

const began = new Date('2026-03-02T10:00:00Z');

beforeEach(() => {
  setSystemTime(began);
});

afterEach(() => {
  setSystemTime();
});

/** A stream that records what is written. */
function recorder(terminal: { isTTY?: boolean; columns?: number }) {
  const written: string[] = [];
  const stream = { ...terminal, write: (text: string) => written.push(text) > 0 };
  return { written, stream: stream as unknown as NodeJS.WriteStream };
}

function advanceSeconds(seconds: number): void {
  setSystemTime(new Date(Date.now() + seconds * 1000));
}

describe('on a terminal', () => {
  test('an update replaces the line, and the line of a finished step stays', () => {
    const { written, stream } = recorder({ isTTY: true, columns: 80 });
    const progress = terminalProgress(stream);

    progress.update('etcd', 'building');
    advanceSeconds(7);
    progress.update('etcd', '12 packages compiled');
    advanceSeconds(60);
    progress.done('etcd', 'ready');

    expect(written).toEqual([
      '\r\x1b[K0:00  etcd: building',
      '\r\x1b[K0:07  etcd: 12 packages compiled',
      '\r\x1b[K1:07  etcd: ready\n',
    ]);
  });

  test('the running step is printed again below a finished step', () => {
    const { written, stream } = recorder({ isTTY: true, columns: 80 });
    const progress = terminalProgress(stream);

    progress.update('world', 'control planes');
    progress.done('a', 'ready');
    progress.done('world', 'up');

    expect(written).toEqual([
      '\r\x1b[K0:00  world: control planes',
      '\r\x1b[K0:00  a: ready\n',
      '\r\x1b[K0:00  world: control planes',
      '\r\x1b[K0:00  world: up\n',
    ]);
  });

  test.each([
    [30, { isTTY: true, columns: 30 }],
    [80, { isTTY: true }],
  ])('a long line is truncated to the %p columns of the terminal', (columns, terminal) => {
    const { written, stream } = recorder(terminal);

    terminalProgress(stream).update('etcd', 'x'.repeat(200));

    expect(written).toEqual([`\r\x1b[K${'0:00  etcd: '.padEnd(columns, 'x')}`]);
  });
});

describe('in a log', () => {
  test('a step is printed at once, and then at most every 20 seconds', () => {
    const { written, stream } = recorder({});
    const progress = terminalProgress(stream);

    progress.update('etcd', 'one');
    advanceSeconds(19.999);
    progress.update('etcd', 'two');
    advanceSeconds(0.001);
    progress.update('etcd', 'three');
    progress.update('etcd', 'four');

    expect(written).toEqual(['0:00  etcd: one\n', '0:20  etcd: three\n']);
  });

  test('each step has its own interval', () => {
    const { written, stream } = recorder({});
    const progress = terminalProgress(stream);

    progress.update('etcd', 'building');
    progress.update('cni', 'building');

    expect(written).toEqual(['0:00  etcd: building\n', '0:00  cni: building\n']);
  });

  test('the end of a step is always printed completely and without control characters', () => {
    const { written, stream } = recorder({});
    const progress = terminalProgress(stream);

    progress.update('etcd', 'building');
    progress.done('etcd', 'x'.repeat(200));

    expect(written[1]).toBe(`0:00  etcd: ${'x'.repeat(200)}\n`);
  });
});

test.each([
  [0, '0:00'],
  [999, '0:00'],
  [7_000, '0:07'],
  [59_999, '0:59'],
  [750_000, '12:30'],
  [3_600_000, '60:00'],
])('%p ms is formatted as %s', (ms, text) => {
  expect(formatElapsed(ms)).toBe(text);
});
