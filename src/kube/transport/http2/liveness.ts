import type { Clock } from '../../../clock/clock.ts';
import { timedOut } from '../connection-error.ts';

/** The time limit for the handshake and the server's settings. */
const HANDSHAKE_MS = 10_000;
/** How long a connection without requests is kept. A reconcile sends several requests, one after the other. */
const IDLE_MS = 10_000;
/**
 * After this time without received bytes, a connection with requests is checked with a ping. TCP detects neither a hung
 * server nor a dead server behind a load balancer that keeps the client's connection open. kube-apiserver sends a
 * bookmark on each watch every minute, so pings are rare.
 */
const SILENCE_MS = 90_000;
/** How long to wait for the response to a ping, or for any other bytes. */
const PING_MS = 5_000;
/** If a timer fires later than this, the process was frozen or busy. */
const LATE_MS = 1_000;

/** The connection that {@link Liveness} checks. */
interface LivenessTarget {
  sendPing(): void;
  failed(error: Error): void;
}

/** Closes a connection that is idle, or whose server does not respond. */
export class Liveness {
  readonly #clock: Clock;
  readonly #target: LivenessTarget;
  #hasRequests = false;
  #isPinging = false;
  #isDoubtful = false;
  #heardMs: number;
  #stopTimer = () => {};

  /** Starts with a connection that is being opened. */
  constructor(clock: Clock, target: LivenessTarget) {
    this.#clock = clock;
    this.#target = target;
    this.#heardMs = clock.nowMs();
    this.#failAfter(HANDSHAKE_MS, timedOut('the handshake was not completed in time'));
  }

  /** Whether a request had no response, and no ping has been answered since. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Sets whether there are requests. The first call also means that the handshake is complete. */
  use(hasRequests: boolean): void {
    if (this.#hasRequests && hasRequests) return;
    this.#hasRequests = hasRequests;
    // An unanswered ping fails new requests too.
    if (!this.#isPinging) this.#resume();
  }

  /** Records that bytes were received. */
  heard(): void {
    this.#heardMs = this.#clock.nowMs();
  }

  /** Checks the server after a request without a response. */
  doubt(): void {
    this.#isDoubtful = true;
    if (!this.#isPinging) this.#ping();
  }

  /** Handles the response to a ping. Returns whether the connection was in doubt. */
  pinged(): boolean {
    if (!this.#isPinging) return false;
    const wasDoubtful = this.#isDoubtful;
    this.#isPinging = false;
    this.#isDoubtful = false;
    this.#resume();
    return wasDoubtful;
  }

  /** Stops the timers of a closed connection. */
  stop(): void {
    this.#stopTimer();
  }

  #resume(): void {
    if (this.#hasRequests) this.#after(SILENCE_MS - this.#silenceMs, () => this.#pingIfSilent());
    else this.#failAfter(IDLE_MS, new Error('idle'));
  }

  get #silenceMs(): number {
    return this.#clock.nowMs() - this.#heardMs;
  }

  #pingIfSilent(): void {
    if (this.#silenceMs < SILENCE_MS) this.#resume();
    else this.#ping();
  }

  #ping(): void {
    this.#isPinging = true;
    this.#awaitPing();
    this.#target.sendPing();
  }

  /**
   * Waits for the response to a ping. It may be queued behind a slow response, so other bytes extend the wait. It may
   * also have arrived while the process was frozen: a late timer runs before the socket is read, so it waits once more.
   */
  #awaitPing(isSecondWait = false): void {
    const beganMs = this.#clock.nowMs();
    this.#after(PING_MS, () => {
      const isLate = this.#clock.nowMs() - beganMs > PING_MS + LATE_MS;
      if (this.#heardMs > beganMs) this.#awaitPing();
      else if (isLate && !isSecondWait) this.#awaitPing(true);
      else this.#target.failed(timedOut('the server did not answer a ping'));
    });
  }

  #failAfter(delayMs: number, error: Error): void {
    this.#after(delayMs, () => this.#target.failed(error));
  }

  #after(delayMs: number, run: () => void): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(delayMs, run);
  }
}
