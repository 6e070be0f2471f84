import { expect, test } from 'bun:test';
import { withTimeout, TIMED_OUT } from './limits.ts';

async function never(): Promise<string> {
  return Promise.withResolvers<string>().promise;
}

test('returns a result that arrives in time', async () => {
  expect(await withTimeout({ timeoutMs: 30_000 }, async () => 'result')).toBe('result');
});

test('throws the error of the work', async () => {
  const work = async () => {
    throw new TypeError('a bug');
  };

  await expect(withTimeout({ timeoutMs: 30_000 }, work)).rejects.toThrow('a bug');
});

test('returns in time if the work does not, and aborts the work', async () => {
  let received: AbortSignal | undefined;

  const result = await withTimeout({ timeoutMs: 5 }, async (signal) => {
    received = signal;
    return never();
  });

  expect(result).toBe(TIMED_OUT);
  expect(received?.aborted).toBe(true);
});

test('ignores an error of the work after the timeout', async () => {
  const result = await withTimeout({ timeoutMs: 5 }, async (signal) => {
    const { promise, reject } = Promise.withResolvers<string>();
    signal.addEventListener('abort', () => reject(new Error('stopped')));
    return promise;
  });

  expect(result).toBe(TIMED_OUT);
});

test("throws the reason of the caller's signal, and aborts the work", async () => {
  const caller = new AbortController();
  const reason = new Error('gone');
  let received: AbortSignal | undefined;

  const waiting = withTimeout({ signal: caller.signal, timeoutMs: 600_000 }, async (signal) => {
    received = signal;
    return never();
  });
  caller.abort(reason);

  await expect(waiting).rejects.toBe(reason);
  expect(received?.aborted).toBe(true);
});

test('does not start if the signal was aborted before', async () => {
  let hasBegun = false;
  const signal = AbortSignal.abort(new Error('gone'));

  const waiting = withTimeout({ signal, timeoutMs: 30_000 }, async () => {
    hasBegun = true;
  });

  await expect(waiting).rejects.toThrow('gone');
  expect(hasBegun).toBe(false);
});
