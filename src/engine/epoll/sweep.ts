/**
 * Runs once per second for every joined pair, whether or not there are events.
 *
 * 1. A socket that could make progress but does not has missed an event. That is a bug, here or in the kernel: the
 *    sweep counts it and recovers the event. It finds events that the engine forgot within seconds. It finds events
 *    that epoll never reported within {@link PROBE_TICKS} + 1 ticks, because that takes a system call for each idle
 *    socket. Two sweeps in a row must find the same: a socket may become ready just before the first sweep, and epoll
 *    reports it before the second.
 * 2. An upstream that is at least a tick old gets keepalive, so that short connections do not pay for it. A client
 *    inherits keepalive from the listener.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import { FLAG, STAGE, type SocketTable } from './socket-table.ts';
import { EPOLL } from '../../system/linux.ts';
import { isReadable, isWritable, setKeepalive } from './socket.ts';

/** Ticks without an event after which a socket that should make progress is checked. */
const STUCK_TICKS = 2;
/** Each idle socket is probed for unread bytes once in this many ticks. */
const PROBE_TICKS = 16;

const SUSPECTED = FLAG.readSuspected | FLAG.writeSuspected;

interface SweepOptions {
  readonly sockets: SocketTable;
  readonly counters: Counters;
  readonly keepaliveMs: number;
  /** Handles an event that epoll did not report. */
  readonly onEvent: (fd: number, events: number, generation: number) => void;
}

/** The sweep of one engine. */
export class Sweep {
  readonly #options: SweepOptions;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  run(tick: number): void {
    const { sockets } = this.#options;
    for (let fd = 0; fd < sockets.limit; fd++) {
      if (sockets.stageOf(fd) !== STAGE.joined) continue;
      if (!sockets.has(fd, FLAG.hasKeepalive)) this.#enableKeepalive(fd);
      const isRecent = tick - (sockets.lastTick[fd] ?? 0) < STUCK_TICKS;
      if (isRecent || sockets.has(fd, FLAG.queued | FLAG.coalesces)) sockets.clear(fd, SUSPECTED);
      else this.#check(fd, tick);
    }
  }

  #enableKeepalive(fd: number): void {
    const { sockets, keepaliveMs } = this.#options;
    sockets.set(fd, FLAG.hasKeepalive);
    if (!sockets.has(fd, FLAG.client)) setKeepalive(fd, keepaliveMs);
  }

  #check(fd: number, tick: number): void {
    const { sockets } = this.#options;
    const missed = this.#missedEvent(fd, tick);
    const suspicion = missed === EPOLL.OUT ? FLAG.writeSuspected : FLAG.readSuspected;
    const isConfirmed = missed !== 0 && sockets.has(fd, suspicion);
    sockets.clear(fd, SUSPECTED);
    if (isConfirmed) this.#recover(fd, missed);
    else if (missed !== 0) sockets.set(fd, suspicion);
  }

  /** Returns the event that epoll should have reported by now, or 0. */
  #missedEvent(fd: number, tick: number): number {
    const { sockets } = this.#options;
    if (sockets.has(fd, FLAG.blocked)) return isWritable(fd) ? EPOLL.OUT : 0; // not writable: slow, not stuck
    if (sockets.has(fd, FLAG.finRead) || sockets.has(sockets.peerOf(fd), FLAG.blocked)) return 0;
    if (sockets.has(fd, FLAG.readable)) return EPOLL.IN;
    const isProbed = fd % PROBE_TICKS === tick % PROBE_TICKS || sockets.has(fd, FLAG.readSuspected);
    return isProbed && isReadable(fd) ? EPOLL.IN : 0;
  }

  #recover(fd: number, events: number): void {
    const { sockets, counters } = this.#options;
    counters.add(GLOBAL.recoveredEvents, 1);
    this.#options.onEvent(fd, events, sockets.generationOf(fd));
  }
}
