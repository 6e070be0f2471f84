/** Round-robin load balancing over the endpoints of one route, with back-off for endpoints that failed. */
import type { Endpoint } from '../../engine/endpoint.ts';
import { DEFAULT_LIMITS } from '../../engine/limits.ts';

/** Back-off after the first failure in a row, and its maximum. Each further failure doubles it. */
export const FIRST_BACKOFF_MS = 1000;
export const MAX_BACKOFF_MS = 30_000;

/**
 * How long a trial lasts. After its back-off an endpoint gets a single connection as a trial, and the other connections
 * avoid it meanwhile. The time covers a dial timeout plus a second, because engines check timeouts once a second.
 */
export const TRIAL_MS = DEFAULT_LIMITS.dialTimeoutMs + 1000;

/** Number of bits in the mask of the endpoints that a connection has tried. */
export const MAX_TRIED = 16;

interface Health {
  /** Failures since the last success. */
  failures: number;
  backoffUntilMs: number;
  /** End of a trial: until then no other connection gets the endpoint. */
  trialUntilMs: number;
}

/** The endpoints of a route. Each thread has its own load balancer, so that threads do not wait for each other. */
export class LoadBalancer {
  #endpoints: readonly Endpoint[] = [];
  #health: Health[] = [];
  #next = 0;
  /** Number of endpoints with a failure since their last success. While it is 0, pick() reads no clock. */
  #failing = 0;
  readonly #random: () => number;

  /** `random` returns numbers from 0 to 1. Tests pass a fixed one. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
    // A random start, so that threads and gateways do not all dial the same endpoint first.
    this.#next = Math.floor(random() * 1024);
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /** Returns how many endpoints are backing off or in a trial. */
  unavailableCount(nowMs: number): number {
    return this.#failing === 0
      ? 0
      : this.#health.filter((health) => unavailableUntilMs(health) > nowMs).length;
  }

  /** Replaces the endpoints. An address that stays keeps its back-off and its Endpoint. */
  replace(addresses: readonly string[], create: (address: string) => Endpoint): void {
    const oldIndexes = new Map(
      this.#endpoints.map((endpoint, index) => [endpoint.toString(), index]),
    );
    const reused = addresses.map((address) => oldIndexes.get(address));
    const oldHealth = this.#health;
    this.#endpoints = addresses.map((address, index) => {
      const oldIndex = reused[index];
      return (oldIndex === undefined ? undefined : this.#endpoints[oldIndex]) ?? create(address);
    });
    this.#health = reused.map((oldIndex) => {
      const health = oldIndex === undefined ? undefined : oldHealth[oldIndex];
      return health ?? { failures: 0, backoffUntilMs: 0, trialUntilMs: 0 };
    });
    this.#failing = this.#health.filter(({ failures }) => failures > 0).length;
  }

  at(index: number): Endpoint | undefined {
    return this.#endpoints[index];
  }

  /**
   * Returns the index of the next endpoint that is not in `tried` (one bit per index), or -1 if there is none. An
   * endpoint whose back-off is over gets a single connection as a trial. If all remaining endpoints are backing off,
   * returns the one whose back-off ends first, rather than refuse the client.
   */
  pick(tried: number, nowMs: () => number): number {
    const { length } = this.#endpoints;
    if (length === 0) return -1;
    const first = this.#next++ % length;
    if (this.#failing === 0 && tried === 0) return first;

    const now = nowMs();
    let soonest = -1;
    let soonestMs = Infinity;
    for (let step = 0; step < length; step++) {
      const index = (first + step) % length;
      if ((tried & bit(index)) !== 0) continue;
      const health = this.#health[index];
      const untilMs = health === undefined ? 0 : unavailableUntilMs(health);
      if (untilMs <= now) {
        if (health !== undefined && health.failures > 0) health.trialUntilMs = now + TRIAL_MS;
        // Advance past the skipped endpoints, so that the next connection does not get this endpoint again.
        this.#next += step;
        return index;
      }
      if (untilMs < soonestMs) {
        soonest = index;
        soonestMs = untilMs;
      }
    }
    return soonest;
  }

  /** Records a failed dial. Returns the bit of the endpoint in `tried`, or 0 if the endpoint was removed. */
  failed(endpoint: Endpoint, nowMs: number): number {
    const index = this.#endpoints.indexOf(endpoint);
    const health = this.#health[index];
    if (health === undefined) return 0;
    if (health.failures === 0) this.#failing++;
    // Concurrent dials that fail together count as one failure.
    if (health.backoffUntilMs <= nowMs) health.failures++;
    health.trialUntilMs = 0;
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (health.failures - 1));
    // Jitter of up to 20%, so that endpoints that failed together do not return together.
    health.backoffUntilMs = Math.max(
      health.backoffUntilMs,
      nowMs + backoffMs * (1 - 0.2 * this.#random()),
    );
    return bit(index);
  }

  /** Records a successful dial, which ends the back-off. */
  succeeded(endpoint: Endpoint): void {
    if (this.#failing === 0) return;
    const health = this.#health[this.#endpoints.indexOf(endpoint)];
    if (health === undefined || health.failures === 0) return;
    health.failures = 0;
    health.backoffUntilMs = 0;
    health.trialUntilMs = 0;
    this.#failing--;
  }
}

function unavailableUntilMs({ backoffUntilMs, trialUntilMs }: Health): number {
  return Math.max(backoffUntilMs, trialUntilMs);
}

/**
 * Returns the bit of an endpoint. With more than {@link MAX_TRIED} endpoints, several share a bit: a connection may skip
 * some endpoints, but dials none twice.
 */
function bit(index: number): number {
  return 1 << (index % MAX_TRIED);
}
