/**
 * Sockets joined in pairs, under gateway and proxy.
 *
 * An Engine owns sockets and decides nothing; a Switchboard decides and owns no socket. For each connection:
 *
 *   accept ─▶ first bytes ─▶ route() ─▶ dial ─▶ connected(), preface() ─▶ bytes both ways ─▶ ended()
 *                  ▲            │ more    │ fails
 *                  └────────────┤         └─▶ failed(): another endpoint, or refuse
 *                               └─ refuse, reset
 *
 * 1. Everything is synchronous and in plain numbers. The objects handed over (Caller, Dial, Ending, Verdict) are the
 *    engine's and reused: read them during the call, keep none. So an engine needs no object, closure or promise per
 *    connection; `epoll` has its state in typed arrays by file descriptor and leaves the hello in the kernel.
 * 2. What the switchboard wants to remember of a connection is one number, Caller.note.
 * 3. The first bytes stay in hand until an upstream is connected, so a failed dial costs the client nothing but time. A
 *    preface is asked for then, not before: nobody has to keep it, and its time stamp is fresh.
 * 4. Bytes pass unchanged and in order. A reader that stalls stops the writer: little is kept (see each
 *    engine), and of all connections no more than Limits.maxKeptBytes.
 * 5. A FIN is passed on behind the last byte, and the other direction goes on; a reset is passed on as a reset. Both FINs
 *    through: `completed`; so is a reset by a side whose FIN is through, which has said all and wants to hear no more
 *    (curl and others close without waiting for the last word of TLS). No connection is cut for being idle; TCP
 *    keepalive finds dead peers.
 * 6. A refused client gets its answer and a FIN; what it still sends is thrown away until it leaves or Limits.lingerMs
 *    is over, because closing with unread bytes would reset the connection and destroy the answer on its way.
 * 7. Over a limit a connection is reset at once and counted; the switchboard is not asked, nor told by ended().
 * 8. If the switchboard throws, that connection is reset and counted as `fault`; the others go on.
 * 9. One tick a second drives all timeouts, so they may come up to a second late.
 */
import type { AddressPair } from '../wire/address-pair.ts';
import type { Clock } from '../clock/clock.ts';
import type { ListenOptions } from '../net/listen-address.ts';
import type { Counters } from './counters.ts';
import type { Endpoint } from './endpoint.ts';
import type { Limits } from './limits.ts';
import type { Verdict } from './verdict.ts';

/** The client of a connection. The addresses are read when they are asked for: that may cost a system call. */
export interface Caller {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Who connected to whom, as a PROXY header says it. Lent like this object: read it during the call. */
  readonly addresses: AddressPair;
  /** The switchboard's own number about this connection; 0 at first. */
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

/** How a connection went. */
export interface Ending {
  readonly caller: Caller;
  readonly reason: number;
  /** The last endpoint that was dialled, absent if none was; then the slot is -1. */
  readonly endpoint: Endpoint | undefined;
  readonly slot: number;
  readonly attempts: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly durationMs: number;
}

/** Whoever decides about connections: gateway or proxy. See the top of this file for the order of the calls. */
export interface Switchboard {
  /**
   * Whether it decides without the first bytes. Then an engine may spare itself the look at them, and ask with none: `more`
   * is no answer to that, and there is nothing to drop.
   */
  readonly isBlind?: boolean;

  /**
   * Where does this client want to go? `bytes` up to `length` are its first, all so far, at most
   * {@link Limits.maxFirstBytes}; they are only lent. Asked again with more of them after `more`.
   */
  route(bytes: Buffer, length: number, caller: Caller, verdict: Verdict): void;

  /**
   * Whether many clients come from this address, as from that of a load balancer. Then it has no limit of its own for
   * unfinished hellos. Default: none has.
   */
  standsForMany?(address: string): boolean;

  /** The dial failed: another endpoint, `refuse` or `reset`. What to drop and the preface are stated anew. */
  failed(dial: Dial, caller: Caller, verdict: Verdict): void;

  /** Writes what the upstream is to get before the client's bytes into `room`, and returns its length. */
  preface?(dial: Dial, caller: Caller, room: Buffer): number;

  /** The dial worked. */
  connected?(dial: Dial, caller: Caller): void;

  /** A connection is over; for the access log. Without this function an engine never looks at addresses. */
  ended?(ending: Ending): void;
}

/** The most that a preface may have: a PROXY header with all its TLVs. */
export const PREFACE_LIMIT_BYTES = 4096;

/** What an engine is made of. */
export interface EngineOptions {
  readonly switchboard: Switchboard;
  readonly counters: Counters;
  /** The numbers of all threads, this one's among them, for what is limited for the whole process. Default: its own. */
  readonly allValues?: readonly Float64Array[];
  /** Default: {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<Limits>;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Told what was thrown, once for each `fault`. */
  readonly onFault: (error: unknown) => void;
}

/** One thread's sockets. */
export interface Engine {
  readonly name: 'bun' | 'epoll';

  /** Listens on one more address and returns the port. @throws the system's error, with its `code`. */
  listen(options: ListenOptions): number;

  /** Closes the listening sockets; connections go on. */
  stopAccepting(): void;

  /** Closes this many connections, those accepted first, and returns how many there were. */
  closeOldest(count: number): number;

  /** Ends everything at once. */
  stop(): void;
}
