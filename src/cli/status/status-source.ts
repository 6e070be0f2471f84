/**
 * The source of the objects that `snicket status` shows: read once, or followed.
 */
import type { Choice } from '../flags/management-flags.ts';
import type { StatusObjects } from './status-view.ts';

/** The current objects of a source that is followed. */
export interface LiveStatus {
  readonly objects: StatusObjects;
  /** Why the objects may be outdated, as a sentence; absent: they are current. */
  readonly staleReason?: string | undefined;
}

/** A source of status objects. */
export interface StatusSource {
  /** Which Exposures are chosen. */
  readonly choice: Choice;

  /** Returns the current objects. @throws KubeError, CommandError */
  read(signal: AbortSignal): Promise<StatusObjects>;

  /**
   * Follows the objects until the signal aborts, even if the source fails. Calls `onChange` if `current` returns something
   * new.
   */
  follow(
    onChange: () => void,
    signal: AbortSignal,
  ): {
    /** Undefined before the first successful read. */
    current(): LiveStatus | undefined;
  };
}
