import { expect, test } from 'bun:test';
import { together, waitFor } from './wait.ts';

test('returns what the look found', async () => {
  const found = await waitFor('a value', () => 'value');

  expect(found).toBe('value');
});

test('looks again while there is false or undefined, and takes 0 and the empty text for values', async () => {
  const zeroAfterTwo = [false, undefined, 0] as const;
  const emptyAfterOne = [undefined, ''] as const;
  let looks = 0;
  let moreLooks = 0;

  const zero = await waitFor('a number', () => zeroAfterTwo[looks++], { everyMs: 1 });
  const empty = await waitFor('a text', () => emptyAfterOne[moreLooks++], { everyMs: 1 });

  expect(zero).toBe(0);
  expect(looks).toBe(3);
  expect(empty).toBe('');
  expect(moreLooks).toBe(2);
});

test('waits for a look that takes its time', async () => {
  const gate = Promise.withResolvers<string>();

  const found = waitFor('the gate', () => gate.promise);
  gate.resolve('open');

  expect(await found).toBe('open');
});

test('does not wait for ever for a look that hangs', async () => {
  const waiting = waitFor('the gate', () => new Promise<string>(() => {}), { deadlineMs: 5 });

  expect(await messageOf(waiting)).toBe('not within 5 ms: the gate');
});

test('together fails only when all are done, with the first failure', async () => {
  const slow = Promise.withResolvers<string>();
  let done = false;
  const slowly = slow.promise.then(() => (done = true));

  const both = together([Promise.reject(new Error('broken')), slowly]);
  const message = messageOf(both.then(() => done)).then((text) => `${text} ${done}`);
  slow.resolve('late');

  expect(await message).toBe('broken true');
});

test('says what did not come to be, and within which time', async () => {
  let looks = 0;

  const waiting = waitFor('pigs fly', () => ++looks < 0, { deadlineMs: 5, everyMs: 1 });

  expect(await messageOf(waiting)).toBe('not within 5 ms: pigs fly');
  expect(looks).toBeGreaterThan(1);
});

test('looks at least once, however short the time', async () => {
  const found = await waitFor('a value', () => 1, { deadlineMs: -1 });

  expect(found).toBe(1);
});

test('ends with what the look threw', async () => {
  let looks = 0;

  const waiting = waitFor('a value', () => {
    looks++;
    throw new Error('the kubelet ended');
  });

  expect(await messageOf(waiting)).toBe('the kubelet ended');
  expect(looks).toBe(1);
});

async function messageOf(waiting: Promise<unknown>): Promise<string> {
  return waiting.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );
}
