import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { Pipes } from './pipes.ts';

const openFiles = (): number => readdirSync('/proc/self/fd').length;

test('opens no pipe if connections need its descriptors', () => {
  const requestedSizes: number[] = [];
  const pipes = new Pipes((descriptor) => requestedSizes.push(descriptor) < 0);
  const before = openFiles();

  const pipe = pipes.take(7);

  expect(pipe).toBeUndefined();
  expect(requestedSizes).toHaveLength(1);
  expect(openFiles()).toBe(before);
});

test('reuses an empty pipe that was given back', () => {
  const pipes = new Pipes(() => true);
  const before = openFiles();
  const first = pipes.take(7);

  const lost = pipes.giveBack(7);
  const second = pipes.take(8);
  pipes.giveBack(8);
  pipes.closeFree();

  expect(lost).toBe(0);
  expect(second).toBe(first);
  expect(openFiles()).toBe(before);
});
