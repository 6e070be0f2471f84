/**
 * Gives back the memory of code that is not run: a program at rest has no use for what its start has run.
 *
 * Only resident memory becomes less. It was never the process's own: the pages are those of the file, shared by all who
 * run it, and the kernel could have taken them at any time (docs/decisions/0007).
 */
import type { Clock } from './clock.ts';
import type { MappedRange } from './epoll/executable.ts';

/** Without a new connection for so long, a program is at rest. */
export const REST_MS = 10_000;

/** Options of {@link giveBackCodeAtRest}. */
export interface CodeAtRestOptions {
  readonly clock: Clock;
  /** How many connections there have been. */
  readonly accepted: () => number;
  /** It cannot be done here: said once, and never tried again. */
  readonly onUnavailable: (error: unknown) => void;
}

/** From now on, until the function that it returns is called. */
export function giveBackCodeAtRest(options: CodeAtRestOptions): () => void {
  const { clock, accepted, onUnavailable } = options;
  let before = accepted();
  let ranges: readonly MappedRange[] | undefined;
  const look = async (): Promise<void> => {
    const now = accepted();
    const isAtRest = now === before;
    before = now;
    if (!isAtRest) return;
    // Imported only here and now: where there is no libc to call, the import throws.
    const { letGoOf, ownRanges } = await import('./epoll/executable.ts');
    letGoOf((ranges ??= ownRanges()));
  };
  const stop = clock.every(REST_MS, () => {
    look().catch((error: unknown) => {
      stop();
      onUnavailable(error);
    });
  });
  return stop;
}
