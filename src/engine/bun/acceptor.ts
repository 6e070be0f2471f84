/**
 * Takes a connection from its first byte until it has an upstream: asks the router, and applies its decision.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Counters } from '../counters.ts';
import type { Router } from '../engine.ts';
import type { Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import { Decision } from '../decision.ts';
import { Dialer } from './dialer.ts';
import type { Done, Relay } from './relay.ts';
import type { ClientSide } from './side.ts';
import type { UnfinishedHellos } from '../unfinished-hellos.ts';

/**
 * Bytes to buffer while dialing before the client is paused. Pausing costs two calls of epoll_ctl and a wake-up, which
 * is more than the buffered bytes cost.
 */
const PAUSE_WHILE_DIALING_BYTES = 64 * 1024;

interface AcceptorOptions {
  readonly router: Router;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly relay: Relay;
  readonly unfinished: UnfinishedHellos<ClientSide>;
  readonly end: Done;
  readonly fault: (client: ClientSide, error: unknown) => void;
}

/** The clients of one engine that have no upstream yet. */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #dialer: Dialer;
  readonly #decision = new Decision();
  /** Refused clients that have not closed yet. All have the same timeout, so the earliest deadline comes first. */
  readonly #lingering = new Set<ClientSide>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#dialer = new Dialer({ ...options, failed: this.#dialFailed.bind(this) });
  }

  /** Number of dials that no client waits for. */
  get abandonedDials(): number {
    return this.#dialer.abandoned;
  }

  /** Forgets a client whose connection has ended. */
  forget(client: ClientSide): void {
    this.#lingering.delete(client);
    this.#dialer.forget(client);
  }

  /** Ends the connections that have timed out. */
  tick(): void {
    const { clock, end, unfinished } = this.#options;
    const nowMs = clock.nowMs();
    for (const client of unfinished) {
      if (client.deadlineMs > nowMs) break;
      end(client, REASON.hello_timeout, 'close');
    }
    for (const client of this.#lingering) {
      if (client.deadlineMs > nowMs) break;
      end(client, client.reason, 'close');
    }
    this.#dialer.tick(nowMs);
  }

  /** Handles bytes of a client that has no upstream yet. */
  received(client: ClientSide, chunk: Uint8Array): void {
    switch (client.stage) {
      case 'hello':
        client.append(chunk);
        this.#route(client);
        return;
      case 'dialing':
        client.append(chunk);
        if (client.firstBytes >= PAUSE_WHILE_DIALING_BYTES) client.pause();
        this.#options.relay.hold(client, chunk.length);
        return;
      case 'joined':
      case 'refused':
      case 'over':
        return;
    }
  }

  #route(client: ClientSide): void {
    const { first, firstBytes } = client;
    if (first === null) return;
    const decision = this.#decision;
    const length = Math.min(firstBytes, this.#options.limits.maxFirstBytes);
    decision.more();
    try {
      this.#options.router.route(first, length, client, decision);
      if (decision.kind !== 'more') this.#apply(client);
      else if (length === this.#options.limits.maxFirstBytes) this.#refuseTooLong(client);
    } catch (error) {
      this.#options.fault(client, error);
    }
  }

  #refuseTooLong(client: ClientSide): void {
    this.#decision.refuse(REASON.first_bytes_too_long);
    this.#apply(client);
  }

  #dialFailed(client: ClientSide): void {
    const decision = this.#decision;
    decision.reset(REASON.fault);
    try {
      this.#options.router.failed(this.#dialer.dial, client, decision);
      if (decision.kind === 'more')
        throw new TypeError(`'more' is not a valid decision after a failed dial`);
      this.#apply(client);
    } catch (error) {
      this.#options.fault(client, error);
    }
  }

  #apply(client: ClientSide): void {
    const decision = this.#decision;
    this.#options.unfinished.delete(client);
    switch (decision.kind) {
      case 'more':
        return;
      case 'dial':
        this.#dialer.start(client, decision);
        return;
      case 'reset':
        this.#options.end(client, decision.reason, 'reset');
        return;
      case 'refuse':
        this.#refuse(client, decision.reason, decision.answer);
        return;
    }
  }

  /** Sends the answer and waits for the client to close, by rule 6 of engine.ts. */
  #refuse(client: ClientSide, reason: number, answer: Uint8Array): void {
    client.stage = 'refused';
    client.reason = reason;
    client.first = null;
    this.#options.counters.fail(reason, client.row);
    if (answer.length > 0) client.write(answer);
    if (client.sawFin) {
      this.#options.end(client, reason, 'close');
      return;
    }
    client.sendFin();
    client.deadlineMs = this.#options.clock.nowMs() + this.#options.limits.lingerMs;
    this.#lingering.add(client);
    client.resume();
  }
}
