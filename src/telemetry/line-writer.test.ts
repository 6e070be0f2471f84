import { expect, test } from 'bun:test';
import { LineWriter } from './line-writer.ts';

/** A destination that accepts as many bytes as `room` says. */
class Reader {
  text = '';
  room = Infinity;
  fault: Error | undefined;
  readonly flushes: (() => void)[] = [];
  readonly writer = new LineWriter({
    write: (bytes) => this.#take(bytes),
    later: (flush) => this.flushes.push(flush),
  });

  #take(bytes: Uint8Array): number {
    if (this.fault !== undefined) throw this.fault;
    const taken = bytes.subarray(0, Math.min(bytes.length, this.room));
    this.text += Buffer.from(taken).toString();
    this.room -= taken.length;
    return taken.length;
  }
}

test('writes a line at once', () => {
  const reader = new Reader();

  reader.writer.add('one\n');

  expect(reader.text).toBe('one\n');
  expect(reader.flushes).toBeEmpty();
});

test('buffers lines for a full destination, and writes them completely and in order', () => {
  const reader = new Reader();
  reader.room = 5;
  for (const line of ['one\n', 'two\n', 'three\n']) reader.writer.add(line);
  expect(reader.text).toBe('one\nt');
  expect(reader.flushes).toHaveLength(1);

  reader.room = 6;
  reader.flushes.pop()?.();
  expect(reader.text).toBe('one\ntwo\nthr');
  reader.room = Infinity;
  reader.writer.add('four\n');

  expect(reader.text).toBe('one\ntwo\nthree\nfour\n');
  expect(reader.writer.lost).toBe(0);
});

test('drops and counts lines beyond a limit', () => {
  const reader = new Reader();
  reader.room = 0;
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 2000; count++) reader.writer.add(line);

  expect(reader.writer.lost).toBe(2000 - 1024);
  reader.room = Infinity;
  expect(reader.writer.flush()).toBeTrue();
  expect(reader.text).toBe(line.repeat(1024));
});

test('drops lines that cannot be written, and starts the next one on a new line', () => {
  const reader = new Reader();
  reader.room = 2;
  for (const line of ['one\n', 'two\n']) reader.writer.add(line);
  reader.fault = new Error('the disk is full');
  reader.writer.flush();
  reader.fault = undefined;
  reader.room = Infinity;

  reader.writer.add('three\n');

  expect(reader.writer.lost).toBe(2);
  expect(reader.text).toBe('on\nthree\n');
});
