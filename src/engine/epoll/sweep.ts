/**
 * What is done once a second for every joined pair, whether or not anything happens to it.
 *
 * 1. An end that could move and does not has missed an edge. That would be a bug, here or in the kernel: it is counted,
 *    and healed. What the engine itself forgot is found within seconds; what epoll never told of, within
 *    {@link PROBE_TICKS}, since to find that out takes a system call for each end at rest.
 * 2. An upstream that has lived for a tick gets its keepalive: a short connection need not pay for it. A client has
 *    inherited its own from the listener.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import { FLAG, STAGE, type Ends } from './ends.ts';
import * as libc from './system/libc.ts';
import { errno } from './system/libc.ts';
import { EPOLL, ERRNO, MSG } from './system/linux.ts';
import type { Relay } from './relay/relay.ts';
import { isWritable, setKeepalive } from './system/socket.ts';

/** Ticks without an event after which an end that ought to move is looked at. */
const STUCK_TICKS = 2;
/** Each end at rest is asked once in so many ticks whether it has something to say. */
const PROBE_TICKS = 16;

/** The parts of an engine that a sweep touches. */
export interface SweepOptions {
  readonly ends: Ends;
  readonly counters: Counters;
  readonly relay: Relay;
  readonly keepaliveMs: number;
  /** Handles an event that epoll did not bring. */
  readonly onEvent: (fd: number, events: number, generation: number) => void;
}

/** The sweep of one engine. */
export class Sweep {
  readonly #options: SweepOptions;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  run(tick: number): void {
    const { ends } = this.#options;
    for (let fd = 0; fd < ends.limit; fd++) {
      if (ends.stageOf(fd) !== STAGE.joined) continue;
      if (!ends.has(fd, FLAG.settled)) this.#settle(fd);
      const isRecent = tick - (ends.lastTick[fd] ?? 0) < STUCK_TICKS;
      if (!isRecent && !ends.has(fd, FLAG.queued | FLAG.gathers)) this.#look(fd, tick);
    }
  }

  #settle(fd: number): void {
    const { ends, keepaliveMs } = this.#options;
    ends.set(fd, FLAG.settled);
    if (!ends.has(fd, FLAG.client)) setKeepalive(fd, keepaliveMs);
  }

  #look(fd: number, tick: number): void {
    const { ends } = this.#options;
    if (ends.has(fd, FLAG.blocked)) {
      if (isWritable(fd)) this.#heal(fd, EPOLL.OUT); // else it is not stuck, but slow
      return;
    }
    if (ends.has(fd, FLAG.finRead) || ends.has(ends.peerOf(fd), FLAG.blocked)) return;
    if (ends.has(fd, FLAG.readable)) this.#heal(fd, EPOLL.IN);
    else if (fd % PROBE_TICKS === tick % PROBE_TICKS) this.#probe(fd);
  }

  /** Finds bytes, a FIN or an error that nobody was told of. */
  #probe(fd: number): void {
    const { relay } = this.#options;
    if (libc.recv(fd, relay.io.address, 1, MSG.PEEK) >= 0) {
      this.#heal(fd, EPOLL.IN);
    } else if (errno() !== ERRNO.EAGAIN) {
      this.#options.counters.add(GLOBAL.lostEdges, 1);
      relay.lost(fd); // the question has taken the error off the socket
    }
  }

  #heal(fd: number, events: number): void {
    const { ends, counters } = this.#options;
    counters.add(GLOBAL.lostEdges, 1);
    this.#options.onEvent(fd, events, ends.generationOf(fd));
  }
}
