/**
 * Time limits of hops. A hop ends in time, whatever its peer does.
 */
import { systemClock, type Clock } from '../clock/clock.ts';

/** The limits of one hop. */
export interface Limits {
  /** Cancels the hop, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** The result of {@link withTimeout} after the timeout. */
export const TIMED_OUT = Symbol('timed out');

/**
 * Returns the result of `run`, or {@link TIMED_OUT}. The signal of `run` aborts on a timeout. A host lookup cannot be
 * aborted by a signal, so the wait ends whether `run` does or not.
 *
 * @throws what `run` throws, or the reason of the caller's signal.
 */
export async function withTimeout<T>(
  { signal, timeoutMs, clock = systemClock }: Limits,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | typeof TIMED_OUT> {
  signal?.throwIfAborted();
  const work = new AbortController();
  const { promise: end, resolve, reject } = Promise.withResolvers<typeof TIMED_OUT>();
  // Resolves before aborting the work. Otherwise the error of the work could come first.
  const cancel = clock.after(timeoutMs, () => {
    resolve(TIMED_OUT);
    work.abort();
  });
  const onAbort = () => {
    reject(signal?.reason as Error);
    work.abort();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run(work.signal), end]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}
