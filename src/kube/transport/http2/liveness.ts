import type { Clock } from '../../../clock/clock.ts';
import { timedOut } from '../connection-error.ts';

/** How long a server has for the handshake and its settings. */
const HANDSHAKE_MS = 10_000;
/** A connection without requests is kept this long: a reconcile has several, one after the other. */
const IDLE_MS = 10_000;
/**
 * After so much silence, a server with requests is asked whether it lives: a hung one, or one behind a load balancer that
 * keeps our side open, is not seen by TCP. kube-apiserver sends each watch a bookmark every minute, so it is seldom asked.
 */
const SILENCE_MS = 90_000;
/** How long a server has to answer a ping, or to send anything else. */
const PING_MS = 5_000;

/** What {@link Liveness} does to its connection. */
export interface LivenessTarget {
  sendPing(): void;
  failed(error: Error): void;
}

/** Ends a connection whose server does not answer, or that nobody uses. */
export class Liveness {
  readonly #clock: Clock;
  readonly #target: LivenessTarget;
  #isInUse = false;
  #isPinging = false;
  #isDoubtful = false;
  #heardMs: number;
  #stopTimer = () => {};

  /** A connection that is being opened. */
  constructor(clock: Clock, target: LivenessTarget) {
    this.#clock = clock;
    this.#target = target;
    this.#heardMs = clock.nowMs();
    this.#failAfter(HANDSHAKE_MS, timedOut('the handshake was not completed in time'));
  }

  /** Whether the server did not answer a request, and has not answered a ping since. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Whether there are requests, from now on. Says too that the handshake is completed. */
  use(isInUse: boolean): void {
    if (this.#isInUse && isInUse) return;
    this.#isInUse = isInUse;
    // A ping that is not answered ends new requests too.
    if (!this.#isPinging) this.#resume();
  }

  /** Bytes came. */
  heard(): void {
    this.#heardMs = this.#clock.nowMs();
  }

  /** A request was not answered: does the server live? */
  doubt(): void {
    this.#isDoubtful = true;
    if (!this.#isPinging) this.#ping();
  }

  /** The server answered a ping. Returns whether it was in doubt. */
  pinged(): boolean {
    if (!this.#isPinging) return false;
    const wasDoubtful = this.#isDoubtful;
    this.#isPinging = false;
    this.#isDoubtful = false;
    this.#resume();
    return wasDoubtful;
  }

  /** The connection has ended. */
  stop(): void {
    this.#stopTimer();
  }

  #resume(): void {
    if (this.#isInUse) this.#after(SILENCE_MS - this.#silenceMs, () => this.#askIfSilent());
    else this.#failAfter(IDLE_MS, new Error('idle'));
  }

  get #silenceMs(): number {
    return this.#clock.nowMs() - this.#heardMs;
  }

  #askIfSilent(): void {
    if (this.#silenceMs < SILENCE_MS) this.#resume();
    else this.#ping();
  }

  #ping(): void {
    this.#isPinging = true;
    this.#awaitPing();
    this.#target.sendPing();
  }

  /** The answer may be behind much that comes slowly. */
  #awaitPing(): void {
    const beganMs = this.#clock.nowMs();
    this.#after(PING_MS, () => {
      if (this.#heardMs > beganMs) this.#awaitPing();
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
