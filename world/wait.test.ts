import { expect, test } from 'bun:test';
import { retry, waitForAll, waitFor } from './wait.ts';

test('returns the result of the check', async () => {
  const found = await waitFor('a value', () => 'value');

  expect(found).toBe('value');
});

test('repeats the check while it returns false or undefined, but not for 0 or an empty string', async () => {
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

test('waits for an asynchronous check', async () => {
  const gate = Promise.withResolvers<string>();

  const found = waitFor('the gate', () => gate.promise);
  gate.resolve('open');

  expect(await found).toBe('open');
});

test('fails at the deadline if the check hangs', async () => {
  const waiting = waitFor('the gate', () => new Promise<string>(() => {}), { deadlineMs: 5 });

  expect(await messageOf(waiting)).toBe('not within 5 ms: the gate');
});

test('waitForAll throws the first error when all promises are settled', async () => {
  const slow = Promise.withResolvers<string>();
  let done = false;
  const slowly = slow.promise.then(() => (done = true));

  const both = waitForAll([Promise.reject(new Error('broken')), slowly]);
  const message = messageOf(both.then(() => done)).then((text) => `${text} ${done}`);
  slow.resolve('late');

  expect(await message).toBe('broken true');
});

test('throws the awaited state and the deadline', async () => {
  let looks = 0;

  const waiting = waitFor('a state', () => ++looks < 0, { deadlineMs: 500, everyMs: 1 });

  expect(await messageOf(waiting)).toBe('not within 500 ms: a state');
  expect(looks).toBeGreaterThan(1);
});

test('checks at least once, even with a short deadline', async () => {
  const found = await waitFor('a value', () => 1, { deadlineMs: 0 });

  expect(found).toBe(1);
});

test('throws the error of the check', async () => {
  let looks = 0;

  const waiting = waitFor('a value', () => {
    looks++;
    throw new Error('the kubelet ended');
  });

  expect(await messageOf(waiting)).toBe('the kubelet ended');
  expect(looks).toBe(1);
});

test('retries after failures and rejections, and returns the first response', async () => {
  const outcomes = [new Error('reset'), 500, 429, 200, 201];
  let tries = 0;

  const answer = await retry(async () => outcome(outcomes[tries++]), {
    isRefused: (status) => status >= 429,
    pauseMs: 1,
  });

  expect(answer).toBe(200);
  expect(tries).toBe(4);
});

test('tries six times, and then throws the last error', async () => {
  let failures = 0;
  let refusals = 0;

  const failing = retry(async () => outcome(new Error(`failure ${++failures}`)), { pauseMs: 1 });
  const refused = retry(async () => ++refusals, { isRefused: () => true, pauseMs: 1 });

  expect(await messageOf(failing)).toBe('failure 6');
  expect(await refused).toBe(6);
});

/** Returns a status, or throws an error. */
async function outcome(value: number | Error = 0): Promise<number> {
  if (value instanceof Error) throw value;
  return value;
}

async function messageOf(waiting: Promise<unknown>): Promise<string> {
  return waiting.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );
}
