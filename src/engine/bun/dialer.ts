/** Carries out decisions to dial: dials the endpoint, enforces the timeout, and starts the relay. */
import type { SocketHandler, TCPSocketConnectOptions } from 'bun';
import type { Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../counters.ts';
import { PREFACE_LIMIT_BYTES, type Dial, type Router } from '../engine.ts';
import type { Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import type { Decision } from '../decision.ts';
import { dialFailure, ignoreConnectRejection } from './dial-failure.ts';
import type { Relay } from './relay.ts';
import { UpstreamSide, type ClientSide } from './side.ts';

interface DialerOptions {
  readonly router: Router;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly relay: Relay;
  /** Called after a failed dial. {@link Dialer.dial} has the reason. */
  readonly failed: (client: ClientSide) => void;
  readonly fault: (client: ClientSide, error: unknown) => void;
}

/** Bun's types declare this option for Bun.listen only. */
interface BunConnectOptions extends TCPSocketConnectOptions<UpstreamSide> {
  readonly allowHalfOpen: true;
}

/** The dials of one engine. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #counters: Counters;
  readonly #handlers: SocketHandler<UpstreamSide>;
  readonly #dialing = new Set<ClientSide>();
  readonly #prefaceRoom = Buffer.alloc(PREFACE_LIMIT_BYTES);
  #abandoned = 0;
  #dial: Dial | undefined;

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#handlers = this.#upstreamHandlers();
  }

  /** Number of dials that no client waits for and that Bun cannot cancel. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** The dial that finished last. */
  get dial(): Dial {
    if (this.#dial === undefined) throw new Error('no dial has been decided yet');
    return this.#dial;
  }

  /** Starts a dial. @throws RangeError if there is no such slot. */
  start(client: ClientSide, decision: Decision): void {
    const { endpoint } = decision;
    if (endpoint === undefined) throw new TypeError('a decision to dial without an endpoint');
    this.#enterSlot(client, decision.slot);
    client.stage = 'dialing';
    client.endpoint = endpoint;
    client.dropBytes = decision.dropBytes;
    client.hasPreface = decision.hasPreface;
    client.attempts++;
    client.dialedMs = this.#options.clock.nowMs();
    client.deadlineMs = client.dialedMs + this.#options.limits.dialTimeoutMs;
    client.peer = new UpstreamSide(client);
    client.peer.bytesAt = client.row + COLUMN.bytesUp;
    client.bytesAt = client.row + COLUMN.bytesDown;
    this.#dialing.add(client);
    this.#counters.add(GLOBAL.dialing, 1);
    const options: BunConnectOptions = {
      hostname: endpoint.address,
      port: endpoint.port,
      allowHalfOpen: true,
      socket: this.#handlers,
      data: client.peer,
    };
    Bun.connect<UpstreamSide>(options).catch(ignoreConnectRejection);
  }

  /** Forgets a client whose connection has ended, and abandons its pending dial. */
  forget(client: ClientSide): void {
    this.#options.relay.release(client);
    if (!this.#dialing.delete(client)) return;
    this.#counters.add(GLOBAL.dialing, -1);
    if (client.peer !== null) this.#abandon(client.peer);
  }

  /** Fails the dials that have timed out. */
  tick(nowMs: number): void {
    for (const client of this.#dialing) {
      if (client.deadlineMs > nowMs) break;
      if (client.peer !== null) this.#abandon(client.peer);
      this.#fail(client, REASON.dial_timeout);
    }
  }

  #upstreamHandlers(): SocketHandler<UpstreamSide> {
    const { relay, fault } = this.#options;
    return {
      binaryType: 'uint8array',
      open: (socket) => {
        const upstream = socket.data;
        if (this.#wasAbandoned(upstream)) {
          upstream.closed = true;
          socket.terminate();
          return;
        }
        upstream.socket = socket;
        this.#join(upstream.peer, upstream);
      },
      connectError: (socket, error) => {
        const upstream = socket.data;
        upstream.closed = true;
        if (!this.#wasAbandoned(upstream)) this.#fail(upstream.peer, dialFailure(error));
      },
      data: (socket, chunk) => {
        if (!socket.data.closed) relay.pass(socket.data, socket.data.peer, chunk);
      },
      drain: (socket) => relay.drained(socket.data),
      end: (socket) => {
        if (!socket.data.closed) relay.fin(socket.data, socket.data.peer);
      },
      close: (socket, error) => {
        if (!socket.data.closed) relay.closed(socket.data, socket.data.peer, error);
      },
      error: (socket, error) => fault(socket.data.peer, error),
    };
  }

  #enterSlot(client: ClientSide, slot: number): void {
    if (client.slot === slot) return;
    const row = this.#counters.row(slot);
    if (client.row >= 0) this.#counters.add(client.row + COLUMN.open, -1);
    this.#counters.add(row + COLUMN.open, 1);
    this.#counters.add(row + COLUMN.total, 1);
    client.slot = slot;
    client.row = row;
  }

  #abandon(upstream: UpstreamSide): void {
    upstream.abandoned = true;
    this.#abandoned++;
    this.#counters.add(GLOBAL.abandonedDials, 1);
  }

  /** Reports whether a finished dial was abandoned, and stops counting it. */
  #wasAbandoned(upstream: UpstreamSide): boolean {
    if (!upstream.abandoned) return false;
    this.#abandoned--;
    this.#counters.add(GLOBAL.abandonedDials, -1);
    return true;
  }

  #fail(client: ClientSide, reason: number): void {
    this.#record(client, reason);
    this.#counters.fail(reason, client.row);
    client.peer = null;
    this.#options.failed(client);
  }

  #join(client: ClientSide, upstream: UpstreamSide): void {
    const { router, relay } = this.#options;
    try {
      this.#record(client, REASON.completed);
      router.connected?.(this.dial, client);
      const preface = client.hasPreface ? this.#preface(client) : undefined;
      const first = client.first?.subarray(client.dropBytes, client.firstBytes) ?? EMPTY;
      client.stage = 'joined';
      client.first = null;
      relay.release(client);
      // One write for both, so that the upstream receives its header and the hello in one segment.
      if (preface === undefined) relay.start(client, upstream, first, 0);
      else relay.start(client, upstream, Buffer.concat([preface, first]), preface.length);
    } catch (error) {
      this.#options.fault(client, error);
    }
  }

  #preface(client: ClientSide): Buffer {
    const length = this.#options.router.preface?.(this.dial, client, this.#prefaceRoom) ?? 0;
    return this.#prefaceRoom.subarray(0, length);
  }

  /** Records the result of a finished dial. */
  #record(client: ClientSide, reason: number): void {
    this.#dialing.delete(client);
    this.#counters.add(GLOBAL.dialing, -1);
    const { endpoint, slot, attempts: attempt } = client;
    if (endpoint === undefined) return;
    const elapsedMs = this.#options.clock.nowMs() - client.dialedMs;
    this.#counters.recordDial(client.row, elapsedMs);
    this.#dial = { endpoint, slot, attempt, reason, elapsedMs };
  }
}

const EMPTY = Buffer.alloc(0);
