/**
 * Load balances over the addresses of the edge, with backoff for those that fail. Decides, and does no I/O.
 *
 * An address that failed backs off, and the others are used meanwhile. If all back off, it matters how they failed. An
 * address that refused is cheap to dial again, and the edge may be back at any moment. An address that timed out would
 * make each pod wait for the whole dial. Then the balancer returns none, the pod is reset at once, and after the
 * backoff a single connection tries again.
 */
import type { Clock } from '../../clock/clock.ts';
import { Endpoint } from '../../engine/endpoint.ts';

const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 15_000;

/** An address to dial. */
export interface EdgeTarget {
  /** An IP address, never a name. */
  readonly address: string;
  readonly port: number;
}

interface Place {
  readonly endpoint: Endpoint;
  /** Number of failures in a row. */
  failures: number;
  backoffUntilMs: number;
  /** Whether the last failure was a timeout. */
  isSilent: boolean;
}

/** The loadBalancer of one edge. */
export class EdgeLoadBalancer {
  readonly #clock: Clock;
  #places: Place[] = [];
  #turn = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#places.length;
  }

  /** Returns all loadBalancer, in the order of the resolver. */
  all(): readonly Endpoint[] {
    return this.#places.map((place) => place.endpoint);
  }

  /** Replaces the list. An address that stays keeps its state and its Endpoint. */
  replace(targets: readonly EdgeTarget[]): void {
    this.#places = targets.map(({ address, port }) => {
      const known = this.#places.find(
        ({ endpoint }) => endpoint.address === address && endpoint.port === port,
      );
      const endpoint = known?.endpoint ?? new Endpoint(address, port);
      return known ?? { endpoint, failures: 0, backoffUntilMs: -Infinity, isSilent: false };
    });
  }

  /**
   * Returns the endpoint to dial, for a connection with this many attempts so far. Undefined if none is left that is
   * worth the wait.
   */
  pick(attempts = 0): Endpoint | undefined {
    if (attempts >= this.#places.length) return undefined;
    const nowMs = this.#clock.nowMs();
    const place = this.#nextAwake(nowMs) ?? this.#soonestAwake();
    if (place === undefined) return undefined;
    // This connection tries the endpoint for all others, which do not wait with it.
    if (place.isSilent) this.#rest(place, nowMs);
    return place.endpoint;
  }

  /** Records that an endpoint has answered. */
  succeeded(endpoint: Endpoint): void {
    const place = this.#placeOf(endpoint);
    if (place === undefined || place.failures === 0) return;
    place.failures = 0;
    place.backoffUntilMs = -Infinity;
    place.isSilent = false;
  }

  /** Records that an endpoint has failed. `isSilent` means that it did not answer before the timeout. */
  failed(endpoint: Endpoint, isSilent: boolean): void {
    const place = this.#placeOf(endpoint);
    if (place === undefined) return;
    place.isSilent = isSilent;
    place.failures++;
    this.#rest(place, this.#clock.nowMs());
  }

  /** Returns the next endpoint that does not back off, round robin. */
  #nextAwake(nowMs: number): Place | undefined {
    for (let step = 0; step < this.#places.length; step++) {
      const place = this.#places[(this.#turn + step) % this.#places.length];
      if (place === undefined || place.backoffUntilMs > nowMs) continue;
      this.#turn = (this.#turn + step + 1) % this.#places.length;
      return place;
    }
    return undefined;
  }

  /** Returns the endpoint with the earliest end of its backoff, of those that did not time out. */
  #soonestAwake(): Place | undefined {
    let soonest: Place | undefined;
    for (const place of this.#places) {
      if (place.isSilent) continue;
      if (soonest === undefined || place.backoffUntilMs < soonest.backoffUntilMs) soonest = place;
    }
    return soonest;
  }

  #rest(place: Place, nowMs: number): void {
    const backoffMs = FIRST_BACKOFF_MS * 2 ** Math.max(0, place.failures - 1);
    place.backoffUntilMs = nowMs + Math.min(MAX_BACKOFF_MS, backoffMs);
  }

  /** A search is faster than a map for two or three loadBalancer. */
  #placeOf(endpoint: Endpoint): Place | undefined {
    return this.#places.find((place) => place.endpoint === endpoint);
  }
}
