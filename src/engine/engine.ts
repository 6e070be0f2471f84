/**
 * Joins sockets in pairs. Gateway and proxy are built on it.
 *
 * An Engine owns sockets and decides nothing. A Router decides and owns no socket. For each connection:
 *
 *   accept ─▶ first bytes ─▶ route() ─▶ dial ─▶ connected(), preface() ─▶ bytes both ways ─▶ ended()
 *                  ▲            │ more    │ fails
 *                  └────────────┤         └─▶ failed(): another endpoint, or refuse
 *                               └─ refuse, reset
 *
 * 1. All calls are synchronous and use plain numbers. The engine owns and reuses the objects that it passes
 *    (ClientConnection, Dial, ClosedConnection, Decision): read them during the call and do not store them. So an
 *    engine needs no object, closure or promise per connection. Engine `epoll` keeps its state in typed arrays by file
 *    descriptor and leaves the hello in the kernel.
 * 2. A router can store one number per connection: ClientConnection.note.
 * 3. The engine holds the first bytes until an upstream is connected, so a failed dial costs the client only time. It
 *    asks for the preface at that point, not before: the preface needs no storage, and its time stamp is fresh.
 * 4. Bytes pass unchanged and in order. A stalled reader stops the writer. An engine buffers little per connection (see
 *    each engine), and at most Limits.maxBufferedBytes for all connections.
 * 5. The engine forwards a FIN after the last byte, and the other direction continues. It forwards a reset as a reset.
 *    A connection ends as `completed` once both FINs are forwarded. The same applies to a reset by a side whose FIN is
 *    forwarded: that side has sent everything and reads no more (curl and others close without waiting for the
 *    close_notify of the peer). The engine never closes a connection for being idle; TCP keepalive finds dead peers.
 * 6. A refused client gets its answer and a FIN. The engine discards what the client still sends until it closes or
 *    Limits.lingerMs is over. Closing with unread bytes would reset the connection and destroy the answer in flight.
 * 7. A connection over a limit is reset at once and counted. The engine neither asks the router nor calls ended().
 * 8. If the router throws, the engine resets that connection and counts it as `fault`. The others continue.
 * 9. One tick per second drives all timeouts, so they may fire up to a second late.
 */
import type { AddressPair } from '../wire/address-pair.ts';
import type { Clock } from '../clock/clock.ts';
import type { ListenOptions } from '../net/listen-address.ts';
import type { Counters } from './counters.ts';
import type { Endpoint } from './endpoint.ts';
import type { Limits } from './limits.ts';
import type { Decision } from './decision.ts';

/** The client of a connection. Addresses are read on demand, which may cost a system call. */
export interface ClientConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Source and destination, as a PROXY header carries them. Valid only during the call, like this object. */
  readonly addresses: AddressPair;
  /** A number that the router stores with this connection. Initially 0. */
  note: number;
}

/** One attempt to reach an endpoint. */
export interface Dial {
  readonly endpoint: Endpoint;
  readonly slot: number;
  /** 1 for the first endpoint of this connection. */
  readonly attempt: number;
  /** One of the `dial_` reasons; `completed` if it worked. */
  readonly reason: number;
  readonly elapsedMs: number;
}

/** The result of a closed connection. */
export interface ClosedConnection {
  readonly connection: ClientConnection;
  readonly reason: number;
  /** The endpoint that was dialed last. Absent if none was dialed; then the slot is -1. */
  readonly endpoint: Endpoint | undefined;
  readonly slot: number;
  readonly attempts: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly durationMs: number;
}

/** Decides about connections, in the gateway or the proxy. The top of this file shows the order of the calls. */
export interface Router {
  /**
   * Whether the router decides without the first bytes. An engine may then call `route` without bytes. The router must
   * not answer `more` to that, and there is nothing to drop.
   */
  readonly routesWithoutBytes?: boolean;

  /**
   * Decides where to connect this client. `bytes` up to `length` are all bytes received so far, at most
   * {@link Limits.maxFirstBytes}. They are valid only during the call. After `more`, the engine calls again when more
   * bytes have arrived.
   */
  route(bytes: Buffer, length: number, connection: ClientConnection, decision: Decision): void;

  /**
   * Reports whether many clients share this address, as behind a load balancer. The limit of unfinished hellos per
   * source does not apply to it. Default: no address.
   */
  isSharedSource?(address: string): boolean;

  /**
   * Decides after a failed dial: another endpoint, `refuse` or `reset`. The decision must repeat the bytes to drop and
   * whether there is a preface.
   */
  failed(dial: Dial, connection: ClientConnection, decision: Decision): void;

  /** Writes the bytes that the upstream receives before those of the client into `buffer`, and returns their number. */
  preface?(dial: Dial, connection: ClientConnection, buffer: Buffer): number;

  /** Called after a successful dial. */
  connected?(dial: Dial, connection: ClientConnection): void;

  /**
   * Called when a connection has ended, for the access log. Without this function and `preface`, an engine reads
   * addresses only to count sources.
   */
  ended?(closed: ClosedConnection): void;
}

/** Maximum length of a preface: a PROXY header with all its TLVs. */
export const PREFACE_LIMIT_BYTES = 4096;

/** Options of an engine. */
export interface EngineOptions {
  readonly router: Router;
  readonly counters: Counters;
  /** The counters of all threads, including this one, for limits of the whole process. Default: only its own. */
  readonly allValues?: readonly Float64Array[];
  /** Default: {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<Limits>;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Called with the exception, once for each `fault`. */
  readonly onFault: (error: unknown) => void;
}

/** The sockets of one thread. */
export interface Engine {
  readonly name: 'bun' | 'epoll';

  /** Listens on one more address and returns the port. @throws the system's error, with its `code`. */
  listen(options: ListenOptions): number;

  /** Closes the listening sockets. Open connections continue. */
  stopAccepting(): void;

  /** Closes this many connections, oldest first, and returns the number of connections that it closed. */
  closeOldest(count: number): number;

  /** Resets all connections and closes the listening sockets at once. */
  stop(): void;
}
