import type { Clock } from '../../../clock/clock.ts';
import { timedOut } from './connection-error.ts';

/** How long a server has for the handshake and its settings. */
const HANDSHAKE_MS = 10_000;
/** A connection without requests is kept this long: a reconcile has several, one after the other. */
const IDLE_MS = 10_000;
/** How long a server has to answer a ping, after it has not answered a request. */
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
  #stopTimer = () => {};

  /** A connection that is being opened. */
  constructor(clock: Clock, target: LivenessTarget) {
    this.#clock = clock;
    this.#target = target;
    this.#start(HANDSHAKE_MS, timedOut('the handshake was not completed in time'));
  }

  /** Whether the server has a ping to answer. */
  get isPinging(): boolean {
    return this.#isPinging;
  }

  /** Whether there are requests, from now on. Says too that the handshake is completed. */
  use(isInUse: boolean): void {
    this.#isInUse = isInUse;
    // A ping that is not answered ends new requests too.
    if (!this.#isPinging) this.#resume();
  }

  /** A request was not answered: does the server live? */
  doubt(): void {
    if (this.#isPinging) return;
    this.#start(PING_MS, timedOut('the server did not answer a ping'));
    this.#isPinging = true;
    this.#target.sendPing();
  }

  /** The server answered a ping. Returns whether one was sent. */
  pinged(): boolean {
    if (!this.#isPinging) return false;
    this.#isPinging = false;
    this.#resume();
    return true;
  }

  /** The connection has ended. */
  stop(): void {
    this.#stopTimer();
  }

  #resume(): void {
    this.#stopTimer();
    if (!this.#isInUse) this.#start(IDLE_MS, new Error('idle'));
  }

  #start(delayMs: number, error: Error): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(delayMs, () => this.#target.failed(error));
  }
}
