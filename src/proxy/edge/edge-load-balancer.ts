/**
 * Load balances over the addresses of the edge, with back-off for failed addresses. Does no I/O.
 *
 * The balancer avoids an address that backs off. If all addresses back off:
 *
 * - It returns an address that refused the last dial, because another refusal costs little time.
 * - It does not return an address that timed out, because each pod would wait for the dial timeout.
 * - If all timed out, it returns none, and the proxy resets the pod's connection at once. After the back-off, a single
 *   connection tries again.
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

interface EndpointState {
  readonly endpoint: Endpoint;
  /** Number of failures in a row. */
  failures: number;
  backoffUntilMs: number;
  /** Whether the last failure was a timeout. */
  timedOut: boolean;
}

/** The endpoints of one edge, with their back-off. */
export class EdgeLoadBalancer {
  readonly #clock: Clock;
  #states: EndpointState[] = [];
  #next = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#states.length;
  }

  /** Returns all endpoints, in the order of the resolver. */
  all(): readonly Endpoint[] {
    return this.#states.map((state) => state.endpoint);
  }

  /** Replaces the list. An address that stays keeps its state and its Endpoint. */
  replace(targets: readonly EdgeTarget[]): void {
    this.#states = targets.map(({ address, port }) => {
      const known = this.#states.find(
        ({ endpoint }) => endpoint.address === address && endpoint.port === port,
      );
      const endpoint = known?.endpoint ?? new Endpoint(address, port);
      return known ?? { endpoint, failures: 0, backoffUntilMs: -Infinity, timedOut: false };
    });
  }

  /**
   * Returns the endpoint to dial, for a connection with this many attempts so far. Undefined if it has tried all
   * endpoints, or if all of them back off after a timeout.
   */
  pick(attempts = 0): Endpoint | undefined {
    if (attempts >= this.#states.length) return undefined;
    const nowMs = this.#clock.nowMs();
    const state = this.#nextAvailable(nowMs) ?? this.#soonestAvailable();
    if (state === undefined) return undefined;
    // Only this connection tries the endpoint. Other connections avoid it for another back-off.
    if (state.timedOut) this.#backOff(state, nowMs);
    return state.endpoint;
  }

  /** Records that an endpoint has answered. */
  succeeded(endpoint: Endpoint): void {
    const state = this.#stateOf(endpoint);
    if (state === undefined || state.failures === 0) return;
    state.failures = 0;
    state.backoffUntilMs = -Infinity;
    state.timedOut = false;
  }

  /** Records that an endpoint has failed. `timedOut` means that it did not answer before the timeout. */
  failed(endpoint: Endpoint, timedOut: boolean): void {
    const state = this.#stateOf(endpoint);
    if (state === undefined) return;
    state.timedOut = timedOut;
    state.failures++;
    this.#backOff(state, this.#clock.nowMs());
  }

  /** Returns the next endpoint that does not back off, round robin. */
  #nextAvailable(nowMs: number): EndpointState | undefined {
    for (let step = 0; step < this.#states.length; step++) {
      const state = this.#states[(this.#next + step) % this.#states.length];
      if (state === undefined || state.backoffUntilMs > nowMs) continue;
      this.#next = (this.#next + step + 1) % this.#states.length;
      return state;
    }
    return undefined;
  }

  /** Returns the endpoint with the earliest end of its back-off, of those that did not time out. */
  #soonestAvailable(): EndpointState | undefined {
    let soonest: EndpointState | undefined;
    for (const state of this.#states) {
      if (state.timedOut) continue;
      if (soonest === undefined || state.backoffUntilMs < soonest.backoffUntilMs) soonest = state;
    }
    return soonest;
  }

  #backOff(state: EndpointState, nowMs: number): void {
    const backoffMs = FIRST_BACKOFF_MS * 2 ** Math.max(0, state.failures - 1);
    state.backoffUntilMs = nowMs + Math.min(MAX_BACKOFF_MS, backoffMs);
  }

  /** A search is faster than a map for two or three endpoints. */
  #stateOf(endpoint: Endpoint): EndpointState | undefined {
    return this.#states.find((state) => state.endpoint === endpoint);
  }
}
