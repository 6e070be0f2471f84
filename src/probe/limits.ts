/**
 * How long a hop may take. Whatever a peer does or leaves undone, a hop ends in time.
 */
import { systemClock, type Clock } from '../clock/clock.ts';

/** The limits of one hop. */
export interface Limits {
  /** The caller wants no result any more: the hop then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** What {@link inTime} gives when the time was up. */
export const TIMED_OUT = Symbol('timed out');

/**
 * What `run` gives, if it gives it in time. Its signal aborts when nobody waits any more; a lookup of a host cannot be
 * stopped by any signal, so the wait ends whether `run` does or not.
 *
 * @throws what `run` throws, or the reason of the caller's signal.
 */
export async function inTime<T>(
  { signal, timeoutMs, clock = systemClock }: Limits,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | typeof TIMED_OUT> {
  signal?.throwIfAborted();
  const work = new AbortController();
  const { promise: end, resolve, reject } = Promise.withResolvers<typeof TIMED_OUT>();
  // The wait is ended before the work is: else the work's own complaint could come first.
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
