/**
 * The addresses of the edge: whose turn it is, and which of them rest. Decides, and does no I/O.
 *
 * One that failed rests: the others are taken meanwhile. If all rest, it matters how the next one failed. One that
 * refused costs nothing to ask again, and the edge may be back this moment. One that did not answer would have each pod
 * wait out the whole dial: then there is none to dial, the pod is reset at once, and only after the rest a single
 * connection tries again.
 */
import type { Clock } from '../../clock/clock.ts';
import { Endpoint } from '../../engine/endpoint.ts';

const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 15_000;

/** Where to dial. */
export interface EdgeTarget {
  /** Never a name. */
  readonly address: string;
  readonly port: number;
}

interface Place {
  readonly endpoint: Endpoint;
  /** In a row. */
  failures: number;
  restsUntilMs: number;
  /** It failed by not answering in time. */
  isSilent: boolean;
}

/** The endpoints of one edge. */
export class EdgeEndpoints {
  readonly #clock: Clock;
  #places: Place[] = [];
  #turn = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#places.length;
  }

  /** All of them, in the order of the resolver. */
  all(): readonly Endpoint[] {
    return this.#places.map((place) => place.endpoint);
  }

  /** Takes a new list. What is known of an address that stays is kept, and its Endpoint too. */
  replace(targets: readonly EdgeTarget[]): void {
    this.#places = targets.map(({ address, port }) => {
      const known = this.#places.find(
        ({ endpoint }) => endpoint.address === address && endpoint.port === port,
      );
      const endpoint = known?.endpoint ?? new Endpoint(address, port);
      return known ?? { endpoint, failures: 0, restsUntilMs: -Infinity, isSilent: false };
    });
  }

  /** Whom to dial, for a connection that has tried so many; nothing if there is none left worth waiting for. */
  pick(attempts = 0): Endpoint | undefined {
    if (attempts >= this.#places.length) return undefined;
    const nowMs = this.#clock.nowMs();
    const place = this.#nextAwake(nowMs) ?? this.#soonestAwake();
    if (place === undefined) return undefined;
    // Whoever comes now tries it out for all others; they do not wait along with it.
    if (place.isSilent) this.#rest(place, nowMs);
    return place.endpoint;
  }

  /** The endpoint has answered. */
  succeeded(endpoint: Endpoint): void {
    const place = this.#placeOf(endpoint);
    if (place === undefined || place.failures === 0) return;
    place.failures = 0;
    place.restsUntilMs = -Infinity;
    place.isSilent = false;
  }

  /** The endpoint has not answered as it should; `isSilent`: it did not answer at all, until the time was up. */
  failed(endpoint: Endpoint, isSilent: boolean): void {
    const place = this.#placeOf(endpoint);
    if (place === undefined) return;
    place.isSilent = isSilent;
    place.failures++;
    this.#rest(place, this.#clock.nowMs());
  }

  /** Round robin over those that do not rest. */
  #nextAwake(nowMs: number): Place | undefined {
    for (let step = 0; step < this.#places.length; step++) {
      const place = this.#places[(this.#turn + step) % this.#places.length];
      if (place === undefined || place.restsUntilMs > nowMs) continue;
      this.#turn = (this.#turn + step + 1) % this.#places.length;
      return place;
    }
    return undefined;
  }

  /** Of those that refuse at once, the one whose rest ends first. */
  #soonestAwake(): Place | undefined {
    let soonest: Place | undefined;
    for (const place of this.#places) {
      if (place.isSilent) continue;
      if (soonest === undefined || place.restsUntilMs < soonest.restsUntilMs) soonest = place;
    }
    return soonest;
  }

  #rest(place: Place, nowMs: number): void {
    const restMs = FIRST_REST_MS * 2 ** Math.max(0, place.failures - 1);
    place.restsUntilMs = nowMs + Math.min(LONGEST_REST_MS, restMs);
  }

  /** Two or three: faster looked through than kept in a map. */
  #placeOf(endpoint: Endpoint): Place | undefined {
    return this.#places.find((place) => place.endpoint === endpoint);
  }
}
