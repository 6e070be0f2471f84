import { expect, test } from 'bun:test';
import { makeCa } from './test-ca.ts';
import { pendingCrypto } from './pending-crypto.ts';

test('is idle when what has begun has ended, and not before', async () => {
  const work = pendingCrypto();
  const before = work.started;
  let isDone = false;
  const digest = crypto.subtle.digest('SHA-256', new Uint8Array(1_000_000)).then(() => {
    isDone = true;
  });

  await work.idle();
  await digest;

  expect(isDone).toBe(true);
  expect(work.started).toBe(before + 1);
  await work.idle();
});

test('counts what a library does', async () => {
  const work = pendingCrypto();
  const before = work.started;

  await makeCa();

  expect(work.started).toBeGreaterThan(before + 2);
});
