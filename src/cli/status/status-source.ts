/**
 * Where the objects come from that `snicket status` shows: read once, or followed.
 */
import type { Choice } from '../flags/management-flags.ts';
import type { StatusObjects } from './situation.ts';

/** What is known at a moment of following. */
export interface Followed {
  readonly objects: StatusObjects;
  /** Why that may be old, as a sentence; absent: it is not. */
  readonly trouble?: string | undefined;
}

/** A source. */
export interface StatusSource {
  /** Which Exposures are meant. */
  readonly choice: Choice;

  /** What there is now. @throws KubeError, StateUnreadable */
  read(signal: AbortSignal): Promise<StatusObjects>;

  /** Goes on until the signal, whatever becomes of the source; `onChange` tells that `current` gives something new. */
  follow(
    onChange: () => void,
    signal: AbortSignal,
  ): {
    /** Absent before the first answer. */
    current(): Followed | undefined;
  };
}
