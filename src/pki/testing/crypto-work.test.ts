import { expect, test } from 'bun:test';
import { OutsideWork } from '../../clock/testing/outside-work.ts';
import { countCrypto } from './crypto-work.ts';
import { makeCa } from './test-ca.ts';

test('is idle when all operations have ended', async () => {
  const work = new OutsideWork();
  countCrypto(work);
  let isDone = false;
  const digest = crypto.subtle.digest('SHA-256', new Uint8Array(1_000_000)).then(() => {
    isDone = true;
  });

  expect(work.started).toBe(1);
  await work.idle();
  await digest;

  expect(isDone).toBe(true);
  await work.idle();
});

test('counts the operations of libraries, for every counter', async () => {
  const works = [new OutsideWork(), new OutsideWork()];
  for (const work of works) countCrypto(work);

  await makeCa();

  for (const { started } of works) expect(started).toBeGreaterThan(2);
});
