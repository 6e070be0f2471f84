/**
 * What is done once a second for every joined pair, whether or not anything happens to it.
 *
 * 1. An end that could move and does not has missed an edge. That would be a bug, here or in the kernel: it is counted,
 *    and healed. What the engine itself forgot is found within seconds. What epoll never reported is found within
 *    {@link PROBE_TICKS} and one more, since that takes a system call for each end at rest. Two sweeps in a row must find
 *    the same: a socket may become ready just before the first, and epoll reports it before the second.
 * 2. An upstream that has lived for a tick gets its keepalive: a short connection need not pay for it. A client has
 *    inherited its own from the listener.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import { FLAG, STAGE, type Ends } from './ends.ts';
import { EPOLL } from '../../system/linux.ts';
import { isReadable, isWritable, setKeepalive } from './socket.ts';

/** Ticks without an event after which an end that ought to move is looked at. */
const STUCK_TICKS = 2;
/** Each end at rest is asked once in so many ticks whether it has something to say. */
const PROBE_TICKS = 16;

const SUSPECTED = FLAG.readSuspected | FLAG.writeSuspected;

/** The parts of an engine that a sweep touches. */
export interface SweepOptions {
  readonly ends: Ends;
  readonly counters: Counters;
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
      if (isRecent || ends.has(fd, FLAG.queued | FLAG.gathers)) ends.clear(fd, SUSPECTED);
      else this.#check(fd, tick);
    }
  }

  #settle(fd: number): void {
    const { ends, keepaliveMs } = this.#options;
    ends.set(fd, FLAG.settled);
    if (!ends.has(fd, FLAG.client)) setKeepalive(fd, keepaliveMs);
  }

  #check(fd: number, tick: number): void {
    const { ends } = this.#options;
    const missed = this.#missedEvent(fd, tick);
    const suspicion = missed === EPOLL.OUT ? FLAG.writeSuspected : FLAG.readSuspected;
    const isConfirmed = missed !== 0 && ends.has(fd, suspicion);
    ends.clear(fd, SUSPECTED);
    if (isConfirmed) this.#heal(fd, missed);
    else if (missed !== 0) ends.set(fd, suspicion);
  }

  /** The event that epoll should have reported by now; 0 if there is none. */
  #missedEvent(fd: number, tick: number): number {
    const { ends } = this.#options;
    if (ends.has(fd, FLAG.blocked)) return isWritable(fd) ? EPOLL.OUT : 0; // else it is not stuck, but slow
    if (ends.has(fd, FLAG.finRead) || ends.has(ends.peerOf(fd), FLAG.blocked)) return 0;
    if (ends.has(fd, FLAG.readable)) return EPOLL.IN;
    const isProbed = fd % PROBE_TICKS === tick % PROBE_TICKS || ends.has(fd, FLAG.readSuspected);
    return isProbed && isReadable(fd) ? EPOLL.IN : 0;
  }

  #heal(fd: number, events: number): void {
    const { ends, counters } = this.#options;
    counters.add(GLOBAL.lostEdges, 1);
    this.#options.onEvent(fd, events, ends.generationOf(fd));
  }
}
