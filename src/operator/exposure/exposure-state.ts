/**
 * What the operator remembers about each Exposure between two reconciles.
 */
import type { Clock } from '../../clock/clock.ts';
import type { CleanupState } from '../../reconcile/clean-up/clean-up-exposure.ts';
import { CleanupDeadline } from '../../reconcile/clean-up/cleanup-deadline.ts';
import { PollBackoff } from '../../reconcile/poll-backoff.ts';
import type { StaleSecrets } from '../../reconcile/preparation/secret-renewals.ts';

/** The memory about one Exposure. It is dropped as a whole when the Exposure is gone. */
export class ExposureState implements CleanupState {
  readonly uid: string | undefined;
  /** How often in a row a reconcile has failed because of the management cluster. */
  failures = 0;
  /** Whether this process has reported on the Exposure. */
  isReported = false;
  /** Since when the DaemonSet of an Exposure that was Ready has not been observed. */
  unobservedSinceMs: number | undefined;
  readonly deadline: CleanupDeadline;
  readonly polls: PollBackoff;
  readonly staleSecrets: StaleSecrets = new Map();

  constructor(uid: string | undefined, cleanupTimeoutMs: number, clock: Clock) {
    this.uid = uid;
    this.deadline = new CleanupDeadline(cleanupTimeoutMs, clock);
    this.polls = new PollBackoff(clock);
  }
}

/** Something that follows Exposures by their keys. */
export interface Follower {
  /** The Exposure of this key is gone. */
  forget(key: string): void;
}
