/**
 * Leader election with a Lease.
 *
 * Safe if clocks differ, since only durations on the local clock count, and safe if the server is unreachable: a leader
 * that cannot renew the Lease stops some time before another process may take it. A leader that was frozen sends no
 * more writes when it resumes: {@link LeaderElection.leaderClient} checks the deadline before each one.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import { delay } from '../backoff.ts';
import type { KubeClient } from '../client/client.ts';
import { fencedClient } from '../client/fenced-client.ts';
import { isKubeError, KubeError } from '../kube-error.ts';
import {
  expiresInMs,
  acquiredBy,
  released,
  observeLease,
  type Lease,
  type LeaseObservation,
} from './lease.ts';
import { keyText, type ObjectKey } from '../object.ts';
import { RESOURCES } from '../resource.ts';

interface LeaderElectionOptions {
  readonly client: KubeClient;
  /** The Lease. Created if it does not exist. */
  readonly lease: ObjectKey & { readonly namespace: string };
  /** Unique to each process, such as the name of its pod. */
  readonly identity: string;
  /**
   * How long after the last renewal other processes may take the Lease. Default 15,000, as in client-go. A busy
   * machine loses a Lease with a shorter duration more often.
   */
  readonly leaseDurationMs?: number;
  /** Default 2,000. */
  readonly renewEveryMs?: number;
  readonly logger: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The time that is written to the Lease, for users to read. Default: the system time. */
  readonly now?: () => Date;
}

/** The work of the leader. Ends when its signal aborts. */
type Lead = (signal: AbortSignal) => Promise<void>;

/** Fraction of the lease duration after which a leader that has not renewed gives up. The rest is time to stop. */
const RENEW_DEADLINE = 2 / 3;

/**
 * Fraction of the renew deadline for one attempt. A request without a response can then be repeated once before the
 * deadline.
 */
const ATTEMPT_TIMEOUT = 1 / 2;

/** How often a process that does not lead checks the Lease. A released Lease is taken within this time. */
const POLL_MS = 1_000;

/** The delay after a failed renewal. Short, since little time is left. */
const RETRY_MS = 500;

/** A participant in the election for one Lease. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #now: () => Date;
  readonly #durationMs: number;
  readonly #renewEveryMs: number;
  readonly #attemptMs: number;
  #observed: LeaseObservation | undefined;
  #isLeader = false;
  /** When the last successful renewal was sent. */
  #renewedAtMs = 0;
  #unknownReason: string | undefined = 'the Lease has not been requested yet';

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#now = options.now ?? (() => this.#clock.now());
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#renewEveryMs = options.renewEveryMs ?? 2_000;
    this.#attemptMs = this.#durationMs * RENEW_DEADLINE * ATTEMPT_TIMEOUT;
  }

  /** Whether this process is the leader. */
  get isLeader(): boolean {
    return this.#isLeader;
  }

  /**
   * Whether this process leads and its renew deadline has not passed. It is false before another process may
   * take the Lease.
   */
  get mayWrite(): boolean {
    return this.#isLeader && this.#clock.nowMs() < this.#deadlineMs;
  }

  /** Returns a client for the work of the leader. It writes only until the renew deadline. */
  leaderClient(): KubeClient {
    const { client, lease } = this.#options;
    return fencedClient(client, () => {
      if (this.mayWrite) return;
      throw new KubeError('Aborted', `the Lease ${keyText(lease)} is lost, so nothing is written`);
    });
  }

  /** A sentence that says why the holder is unknown. Undefined if the server answered the last request. */
  get unanswered(): string | undefined {
    return this.#unknownReason;
  }

  /** The last known holder of the Lease, or undefined if it is free. */
  get currentLeader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined;
  }

  /**
   * Waits for the Lease and calls `lead`. When the Lease is lost, the signal of `lead` aborts, and after `lead` has
   * ended the process waits for the Lease again. When `signal` aborts, the Lease is released as soon as `lead` has
   * ended.
   *
   * @throws what `lead` throws, after the Lease is released.
   */
  async run(lead: Lead, signal: AbortSignal): Promise<void> {
    const { logger, identity } = this.#options;
    const lease = keyText(this.#options.lease);
    while (!signal.aborted) {
      await this.#acquire(signal);
      try {
        if (signal.aborted) return;
        logger.info('leading', { lease, identity });
        this.#isLeader = true;
        await this.#lead(lead, signal);
      } finally {
        this.#isLeader = false;
        await this.#release();
      }
      logger.info('stopped leading', { lease, identity });
    }
  }

  /** Returns when this process holds the Lease, or the signal aborts. */
  async #acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#tryWithin(this.#attemptMs))) {
      await delay(this.#clock, POLL_MS, signal);
    }
  }

  get #deadlineMs(): number {
    return this.#renewedAtMs + this.#durationMs * RENEW_DEADLINE;
  }

  /** Runs `lead` and renews the Lease until `lead` has ended, unless the Lease is lost. */
  async #lead(lead: Lead, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    const work = lead(AbortSignal.any([signal, lost.signal])).finally(() => ended.abort());
    const renewal = this.#renew(lost, ended.signal);
    // Waits for both: a renewal in progress would conflict with the release.
    await Promise.allSettled([work, renewal]);
    await Promise.all([work, renewal]);
  }

  async #renew(lost: AbortController, ended: AbortSignal): Promise<void> {
    let waitMs = this.#renewEveryMs;
    while (!ended.aborted && !lost.signal.aborted) {
      const deadlineMs = this.#deadlineMs;
      await delay(this.#clock, Math.min(waitMs, deadlineMs - this.#clock.nowMs()), ended);
      if (ended.aborted) return;
      const timeoutMs = Math.min(deadlineMs - this.#clock.nowMs(), this.#attemptMs);
      const isRenewed = timeoutMs > 0 && (await this.#tryWithin(timeoutMs));
      waitMs = isRenewed ? this.#renewEveryMs : RETRY_MS;
      const hasOtherLeader = this.currentLeader !== this.#options.identity;
      if (!isRenewed && (hasOtherLeader || this.#clock.nowMs() >= deadlineMs)) this.#lose(lost);
    }
  }

  #lose(lost: AbortController): void {
    this.#isLeader = false;
    const { logger, identity } = this.#options;
    const lease = keyText(this.#options.lease);
    logger.warn('lost the Lease, stopping all work', {
      lease,
      identity,
      holder: this.currentLeader,
    });
    lost.abort(new Error(`the Lease ${lease} is lost`));
  }

  /**
   * Not aborted at shutdown: the server may already have processed the request, and the Lease must
   * then be released.
   */
  async #tryWithin(ms: number): Promise<boolean> {
    const startedMs = this.#clock.nowMs();
    const isRenewed = await this.#within(ms, async (signal) => this.#tryAcquireOrRenew(signal));
    // Measured before the call: the server may have renewed the Lease at that time.
    if (isRenewed) this.#renewedAtMs = startedMs;
    return isRenewed;
  }

  /** Aborts the call after the timeout. */
  async #within<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const stop = this.#clock.every(ms, () => late.abort());
    try {
      return await call(late.signal);
    } finally {
      stop();
    }
  }

  /** Takes or renews the Lease if possible. Returns false if another process holds it, or if the request failed. */
  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, identity, lease: key } = this.#options;
    try {
      const found = await client.get<Lease>(RESOURCES.lease, key, { signal });
      if (found === undefined) {
        const empty = { ...LEASE_KIND, metadata: { name: key.name, namespace: key.namespace } };
        this.#observe(
          await client.create(RESOURCES.lease, this.#withOwnIdentity(empty), { signal }),
        );
        return true;
      }
      this.#observe(found);
      if (this.currentLeader !== identity && !this.#isFree()) return false;
      this.#observe(
        await client.replace(RESOURCES.lease, this.#withOwnIdentity(found), { signal }),
      );
      return true;
    } catch (error) {
      // Another process was faster. This is not a failure.
      if (!isKubeError(error, 'Conflict', 'AlreadyExists')) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#unknownReason = `failed to acquire or renew the Lease ${keyText(key)}: ${reason}`;
        this.#options.logger.warn('failed to acquire or renew the Lease', {
          lease: keyText(key),
          error,
        });
      }
      return false;
    }
  }

  /** Releases the Lease if this process holds it. If that fails, the Lease expires. */
  async #release(): Promise<void> {
    const { client, identity, logger } = this.#options;
    const lease = this.#observed?.lease;
    if (lease === undefined || this.currentLeader !== identity) return;
    try {
      const free = released(lease, this.#now());
      const releasedLease = await this.#within(this.#renewEveryMs, async (signal) =>
        client.replace(RESOURCES.lease, free, { signal }),
      );
      this.#observe(releasedLease);
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return; // another process holds it by now, or it was deleted
      logger.warn('failed to release the Lease', { lease: keyText(this.#options.lease), error });
    }
  }

  #isFree(): boolean {
    const observed = this.#observed;
    return (
      observed === undefined || expiresInMs(observed, this.#clock.nowMs(), this.#durationMs) === 0
    );
  }

  #observe(lease: Lease): void {
    this.#unknownReason = undefined;
    this.#observed = observeLease(this.#observed, lease, this.#clock.nowMs());
  }

  #withOwnIdentity(before: Lease): Lease {
    const options = { durationMs: this.#durationMs, now: this.#now() };
    return acquiredBy(this.#options.identity, before, options);
  }
}

const LEASE_KIND = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
