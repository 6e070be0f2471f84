import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { ReplayGuard } from './replay-guard.ts';

const WINDOW = 60;

/** Returns a unique signature. */
function signature(number: number) {
  return createHash('sha256').update(String(number)).digest();
}

test('recognizes a replay as long as the header could be valid', () => {
  const guard = new ReplayGuard({ windowSeconds: WINDOW });
  const first = signature(1);
  expect(guard.isFirstUse(first, 0, 1000)).toBe(true);

  // Signed one window ahead of the local clock, it is valid for two windows. Other headers arrive meanwhile.
  for (let second = 1; second <= 2 * WINDOW; second++) {
    expect(guard.isFirstUse(signature(1000 + second), 0, 1000 + second)).toBe(true);
    expect(guard.isFirstUse(first, 0, 1000 + second)).toBe(false);
  }
});

test('forgets headers that are no longer valid', () => {
  const guard = new ReplayGuard({ windowSeconds: WINDOW, capacity: 1000 });

  for (let second = 0; second < 5000; second++) guard.isFirstUse(signature(second), 0, second);

  expect(guard.size).toBeLessThanOrEqual(2 * (2 * WINDOW + 1));
  expect(guard.isFirstUse(signature(0), 0, 5000)).toBe(true);
  expect(guard.forgottenEarly).toBe(0);
});

test('when full, forgets and counts the oldest headers, accepts new headers, and does not grow', () => {
  const capacity = 64;
  const guard = new ReplayGuard({ windowSeconds: WINDOW, capacity });
  const { sizeBytes } = guard;

  for (let number = 0; number < 10 * capacity; number++) {
    expect(guard.isFirstUse(signature(number), 0, 1000)).toBe(true);
    expect(guard.size).toBeLessThanOrEqual(2 * capacity);
  }

  expect(guard.sizeBytes).toBe(sizeBytes);
  expect(guard.forgottenEarly).toBe(8);
  // The last signatures are still known.
  for (let number = 9 * capacity; number < 10 * capacity; number++) {
    expect(guard.isFirstUse(signature(number), 0, 1000)).toBe(false);
  }
  expect(guard.isFirstUse(signature(0), 0, 1000)).toBe(true);
});

test('distinguishes thousands of headers', () => {
  const guard = new ReplayGuard({ windowSeconds: WINDOW, capacity: 5000 });

  for (let number = 0; number < 5000; number++) {
    expect(guard.isFirstUse(signature(number), 0, 1000)).toBe(true);
  }
  for (let number = 0; number < 5000; number++) {
    expect(guard.isFirstUse(signature(number), 0, 1000)).toBe(false);
  }
});

test('tolerates a clock that goes back', () => {
  const guard = new ReplayGuard({ windowSeconds: WINDOW });
  guard.isFirstUse(signature(1), 0, 1000);

  expect(guard.isFirstUse(signature(1), 0, 500)).toBe(false);
  expect(guard.isFirstUse(signature(2), 0, 500)).toBe(true);
});

test('takes 2 MiB by default', () => {
  expect(new ReplayGuard({ windowSeconds: WINDOW }).sizeBytes).toBe(2 * 2 ** 20);
});
