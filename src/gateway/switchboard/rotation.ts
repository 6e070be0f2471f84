/**
 * The endpoints of one route, taken in turn; one that failed rests for a while.
 */
import type { Endpoint } from '../../engine/endpoint.ts';
import { DEFAULT_LIMITS } from '../../engine/limits.ts';

/** How long an endpoint rests after its first failure in a row, and at most. Each failure doubles it. */
export const FIRST_REST_MS = 1000;
export const LONGEST_REST_MS = 30_000;

/**
 * After its rest an endpoint is tried out by one connection; the others do not wait along with it for so long. It is the
 * time that a dial may take: engines look at their clocks once a second.
 */
export const TRIAL_MS = DEFAULT_LIMITS.dialTimeoutMs + 1000;

/** A connection tries each endpoint once, and remembers which in a number: this many of them. */
export const MAX_TRIED = 16;

interface Health {
  /** Failures since the last success. */
  failures: number;
  restsUntilMs: number;
  /** Somebody tries it out, and until then nobody else does. */
  triedUntilMs: number;
}

/** A route's endpoints. Each thread has its own, so that no thread waits for another. */
export class Rotation {
  #endpoints: readonly Endpoint[] = [];
  #health: Health[] = [];
  #next = 0;
  /** Endpoints with a failure since their last success: while there are none, no clock is read. */
  #ailing = 0;
  readonly #random: () => number;

  /** `random` gives numbers from 0 to 1; a test may give known ones. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
    // Threads and gateways do not all begin with the same endpoint.
    this.#next = Math.floor(random() * 1024);
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /** How many rest now, those that are tried out included. */
  resting(nowMs: number): number {
    return this.#ailing === 0
      ? 0
      : this.#health.filter((health) => awayUntilMs(health) > nowMs).length;
  }

  /** Has these from now on; those that were there before keep their rest and their identity. */
  replace(addresses: readonly string[], make: (address: string) => Endpoint): void {
    const before = new Map(this.#endpoints.map((endpoint, index) => [endpoint.toString(), index]));
    const kept = addresses.map((address) => before.get(address));
    const oldHealth = this.#health;
    this.#endpoints = addresses.map((address, index) => {
      const at = kept[index];
      return (at === undefined ? undefined : this.#endpoints[at]) ?? make(address);
    });
    this.#health = kept.map((at) => {
      const health = at === undefined ? undefined : oldHealth[at];
      return health ?? { failures: 0, restsUntilMs: 0, triedUntilMs: 0 };
    });
    this.#ailing = this.#health.filter(({ failures }) => failures > 0).length;
  }

  at(index: number): Endpoint | undefined {
    return this.#endpoints[index];
  }

  /**
   * The place of the endpoint whose turn it is, none of those in `tried` (a bit for each place); -1 if there is none
   * left. One whose rest is over goes to a single connection, which tries it out. If all that are left rest, the one
   * whose rest ends first: better than to refuse.
   */
  pick(tried: number, nowMs: () => number): number {
    const { length } = this.#endpoints;
    if (length === 0) return -1;
    const first = this.#next++ % length;
    if (this.#ailing === 0 && tried === 0) return first;

    const now = nowMs();
    let soonest = -1;
    let soonestMs = Infinity;
    for (let step = 0; step < length; step++) {
      const index = (first + step) % length;
      if ((tried & bit(index)) !== 0) continue;
      const health = this.#health[index];
      const untilMs = health === undefined ? 0 : awayUntilMs(health);
      if (untilMs <= now) {
        if (health !== undefined && health.failures > 0) health.triedUntilMs = now + TRIAL_MS;
        // Whoever stands in for a resting one does not get the next turn as well.
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

  /** This endpoint could not be dialled. Returns the bit by which `tried` knows it, 0 if it is no longer here. */
  failed(endpoint: Endpoint, nowMs: number): number {
    const index = this.#endpoints.indexOf(endpoint);
    const health = this.#health[index];
    if (health === undefined) return 0;
    if (health.failures === 0) this.#ailing++;
    // Dials that were under way together fail together: that is one failure, not many.
    if (health.restsUntilMs <= nowMs) health.failures++;
    health.triedUntilMs = 0;
    const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (health.failures - 1));
    // Up to a fifth off, so that those who failed together do not come back together.
    health.restsUntilMs = Math.max(
      health.restsUntilMs,
      nowMs + restMs * (1 - 0.2 * this.#random()),
    );
    return bit(index);
  }

  /** This endpoint answered a dial: its rest is over. */
  worked(endpoint: Endpoint): void {
    if (this.#ailing === 0) return;
    const health = this.#health[this.#endpoints.indexOf(endpoint)];
    if (health === undefined || health.failures === 0) return;
    health.failures = 0;
    health.restsUntilMs = 0;
    health.triedUntilMs = 0;
    this.#ailing--;
  }
}

function awayUntilMs({ restsUntilMs, triedUntilMs }: Health): number {
  return Math.max(restsUntilMs, triedUntilMs);
}

/** Places beyond {@link MAX_TRIED} share bits: some of them are then skipped, none is dialled twice. */
function bit(index: number): number {
  return 1 << (index % MAX_TRIED);
}
