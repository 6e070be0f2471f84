/**
 * One of several processes does the work: the one that holds a Lease.
 *
 * Safe against clocks that differ (only durations on one's own clock count), and against a lost server: a leader that
 * could not renew stops its work some time before another process may begin. One that was frozen and wakes up later sends
 * no more writes: {@link LeaderElection.leaderClient} checks the deadline before each one.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import { delay } from '../backoff.ts';
import type { KubeClient } from '../client/client.ts';
import { fencedClient } from '../client/fenced-client.ts';
import { isKubeError, KubeError } from '../kube-error.ts';
import { freeInMs, heldBy, released, sighted, type Lease, type LeaseSighting } from './lease.ts';
import { keyText, type ObjectKey } from '../object.ts';
import { RESOURCES } from '../resource.ts';

/** Options of {@link LeaderElection}. */
export interface LeaderElectionOptions {
  readonly client: KubeClient;
  /** The Lease; made if it is not there. */
  readonly lease: ObjectKey & { readonly namespace: string };
  /** Different for each process, as the name of its pod. */
  readonly identity: string;
  /** So long after the last renewal others may take it. Default 15,000, as others have it: a busy machine loses less. */
  readonly leaseDurationMs?: number;
  /** Default 2,000. */
  readonly renewEveryMs?: number;
  readonly logger: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** What is written as the time, for people to read. Default: the date of the machine. */
  readonly now?: () => Date;
}

/** The work of a leader, until its signal. */
export type Lead = (signal: AbortSignal) => Promise<void>;

/** A part of the lease's duration: a leader that has not renewed for so long has lost, the rest is time to stop. */
const RENEW_DEADLINE = 2 / 3;

/** A part of that deadline: an answer that has not come by then is asked for again, once more in time. */
const ONE_ATTEMPT = 1 / 2;

/** How often a process that does not lead looks: a lease that is given back is taken within this time. */
const LOOK_EVERY_MS = 1_000;

/** After a renewal that failed: soon, for there is little time. */
const RETRY_EVERY_MS = 500;

/** Takes part in the election for one Lease. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #now: () => Date;
  readonly #durationMs: number;
  readonly #renewEveryMs: number;
  readonly #attemptMs: number;
  #seen: LeaseSighting | undefined;
  #isLeader = false;
  /** The last moment of a renewal, from before it was sent. */
  #renewedAtMs = 0;
  #unanswered: string | undefined = 'the lease has not been asked for yet';

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#now = options.now ?? (() => this.#clock.now());
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#renewEveryMs = options.renewEveryMs ?? 2_000;
    this.#attemptMs = this.#durationMs * RENEW_DEADLINE * ONE_ATTEMPT;
  }

  /** Whether this process leads right now. */
  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Whether this process leads and its renew deadline has not passed. True no longer than the Lease is held. */
  get mayWrite(): boolean {
    return this.#isLeader && this.#clock.nowMs() < this.#deadlineMs;
  }

  /** The client for the work of a leader: it writes only until the renew deadline. */
  leaderClient(): KubeClient {
    const { client, lease } = this.#options;
    return fencedClient(client, () => {
      if (this.mayWrite) return;
      throw new KubeError('Aborted', `the Lease ${keyText(lease)} is lost, so nothing is written`);
    });
  }

  /** Why it is not known who holds the lease, as a sentence; nothing if the server has just said so. */
  get unanswered(): string | undefined {
    return this.#unanswered;
  }

  /** Who holds the lease, as far as is known; undefined if nobody. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity || undefined;
  }

  /**
   * Waits for the lease and calls `lead`; when the lease is lost, its signal says so, and after it has ended the waiting
   * begins anew. When `signal` ends all this, the lease is given back as soon as `lead` has ended.
   *
   * @throws what `lead` throws, the lease given back.
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
      logger.info('not leading any more', { lease, identity });
    }
  }

  /** Ends when the lease is ours, or the signal came first. */
  async #acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#tryHoldWithin(this.#attemptMs))) {
      await delay(this.#clock, LOOK_EVERY_MS, signal);
    }
  }

  get #deadlineMs(): number {
    return this.#renewedAtMs + this.#durationMs * RENEW_DEADLINE;
  }

  /** Works and renews side by side. Goes on renewing while the work comes to its end, unless the lease is lost. */
  async #lead(lead: Lead, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    const work = lead(AbortSignal.any([signal, lost.signal])).finally(() => ended.abort());
    const renewal = this.#renew(lost, ended.signal);
    // Both to their end: a renewal on its way would meet the release.
    await Promise.allSettled([work, renewal]);
    await Promise.all([work, renewal]);
  }

  async #renew(lost: AbortController, ended: AbortSignal): Promise<void> {
    let waitMs = this.#renewEveryMs;
    while (!ended.aborted && !lost.signal.aborted) {
      const deadlineMs = this.#deadlineMs;
      await delay(this.#clock, Math.min(waitMs, deadlineMs - this.#clock.nowMs()), ended);
      if (ended.aborted) return;
      const leftMs = Math.min(deadlineMs - this.#clock.nowMs(), this.#attemptMs);
      const isHeld = leftMs > 0 && (await this.#tryHoldWithin(leftMs));
      waitMs = isHeld ? this.#renewEveryMs : RETRY_EVERY_MS;
      const isTaken = this.holder !== this.#options.identity;
      if (!isHeld && (isTaken || this.#clock.nowMs() >= deadlineMs)) this.#lose(lost);
    }
  }

  #lose(lost: AbortController): void {
    this.#isLeader = false;
    const { logger, identity } = this.#options;
    const lease = keyText(this.#options.lease);
    logger.warn('lost the lease: all work stops', { lease, identity, holder: this.holder });
    lost.abort(new Error(`the lease ${lease} is lost`));
  }

  /** Not cut short when all ends: a lease that was taken and nobody knows of is not given back. */
  async #tryHoldWithin(ms: number): Promise<boolean> {
    const startedMs = this.#clock.nowMs();
    const isHeld = await this.#within(ms, async (signal) => this.#tryHold(signal));
    // From before the call: the server may have counted from there.
    if (isHeld) this.#renewedAtMs = startedMs;
    return isHeld;
  }

  /** An answer that comes after the time is none. */
  async #within<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const stop = this.#clock.every(ms, () => late.abort());
    try {
      return await call(late.signal);
    } finally {
      stop();
    }
  }

  /** Takes or renews the lease if it may; false if it is another's, or the server could not be asked. */
  async #tryHold(signal: AbortSignal): Promise<boolean> {
    const { client, identity, lease: key } = this.#options;
    try {
      const found = await client.get<Lease>(RESOURCES.lease, key, { signal });
      if (found === undefined) {
        const empty = { ...LEASE_KIND, metadata: { name: key.name, namespace: key.namespace } };
        this.#see(await client.create(RESOURCES.lease, this.#held(empty), { signal }));
        return true;
      }
      this.#see(found);
      if (this.holder !== identity && !this.#isFree()) return false;
      this.#see(await client.replace(RESOURCES.lease, this.#held(found), { signal }));
      return true;
    } catch (error) {
      // Somebody was quicker: no failure.
      if (!isKubeError(error, 'Conflict', 'AlreadyExists')) {
        const said = error instanceof Error ? error.message : String(error);
        this.#unanswered = `the lease ${keyText(key)} cannot be held: ${said}`;
        this.#options.logger.warn('the lease cannot be held', { lease: keyText(key), error });
      }
      return false;
    }
  }

  /** Gives the lease back if it is ours; if that fails, it ends by itself. */
  async #release(): Promise<void> {
    const { client, identity, logger } = this.#options;
    const lease = this.#seen?.lease;
    if (lease === undefined || this.holder !== identity) return;
    try {
      const free = released(lease, this.#now());
      const given = await this.#within(this.#renewEveryMs, async (signal) =>
        client.replace(RESOURCES.lease, free, { signal }),
      );
      this.#see(given);
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return; // another has it by now, or nobody can
      logger.warn('the lease was not given back', { lease: keyText(this.#options.lease), error });
    }
  }

  #isFree(): boolean {
    const seen = this.#seen;
    return seen === undefined || freeInMs(seen, this.#clock.nowMs(), this.#durationMs) === 0;
  }

  #see(lease: Lease): void {
    this.#unanswered = undefined;
    this.#seen = sighted(this.#seen, lease, this.#clock.nowMs());
  }

  #held(before: Lease): Lease {
    const held = { durationMs: this.#durationMs, now: this.#now() };
    return heldBy(this.#options.identity, before, held);
  }
}

const LEASE_KIND = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
