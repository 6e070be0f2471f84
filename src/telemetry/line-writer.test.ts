import { expect, test } from 'bun:test';
import { LineWriter } from './line-writer.ts';

/** A destination that accepts `capacity` bytes. */
class FakeDestination {
  text = '';
  capacity = Infinity;
  fault: Error | undefined;
  readonly flushes: (() => void)[] = [];
  readonly writer = new LineWriter({
    write: (bytes) => this.#write(bytes),
    later: (flush) => this.flushes.push(flush),
  });

  #write(bytes: Uint8Array): number {
    if (this.fault !== undefined) throw this.fault;
    const taken = bytes.subarray(0, Math.min(bytes.length, this.capacity));
    this.text += Buffer.from(taken).toString();
    this.capacity -= taken.length;
    return taken.length;
  }
}

test('writes a line immediately', () => {
  const destination = new FakeDestination();

  destination.writer.add('one\n');

  expect(destination.text).toBe('one\n');
  expect(destination.flushes).toBeEmpty();
});

test('buffers lines for a full destination, and writes them completely and in order', () => {
  const destination = new FakeDestination();
  destination.capacity = 5;
  for (const line of ['one\n', 'two\n', 'three\n']) destination.writer.add(line);
  expect(destination.text).toBe('one\nt');
  expect(destination.flushes).toHaveLength(1);

  destination.capacity = 6;
  destination.flushes.pop()?.();
  expect(destination.text).toBe('one\ntwo\nthr');
  destination.capacity = Infinity;
  destination.writer.add('four\n');

  expect(destination.text).toBe('one\ntwo\nthree\nfour\n');
  expect(destination.writer.lost).toBe(0);
});

test('drops and counts lines beyond a limit', () => {
  const destination = new FakeDestination();
  destination.capacity = 0;
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 2000; count++) destination.writer.add(line);

  expect(destination.writer.lost).toBe(2000 - 1024);
  destination.capacity = Infinity;
  expect(destination.writer.flush()).toBeTrue();
  expect(destination.text).toBe(line.repeat(1024));
});

test('drops lines that cannot be written, and starts the next line with a newline', () => {
  const destination = new FakeDestination();
  destination.capacity = 2;
  for (const line of ['one\n', 'two\n']) destination.writer.add(line);
  destination.fault = new Error('the disk is full');
  destination.writer.flush();
  destination.fault = undefined;
  destination.capacity = Infinity;

  destination.writer.add('three\n');

  expect(destination.writer.lost).toBe(2);
  expect(destination.text).toBe('on\nthree\n');
});
