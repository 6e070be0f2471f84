import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { Pipes } from './pipes.ts';

const openFiles = (): number => readdirSync('/proc/self/fd').length;

test('gives no pipe, and opens none, where its descriptors are wanted by others', () => {
  const asked: number[] = [];
  const pipes = new Pipes((descriptor) => asked.push(descriptor) < 0);
  const before = openFiles();

  const pipe = pipes.take(7);

  expect(pipe).toBeUndefined();
  expect(asked).toHaveLength(1);
  expect(openFiles()).toBe(before);
});

test('uses one again that was given back empty, until it is closed', () => {
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
