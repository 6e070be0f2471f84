/**
 * Bulk that arrives in small pieces, as from a proxy that forwards 16 KB at a time. Each piece would cost a wake-up, a
 * read and a write, and no read would be large enough to earn a pipe.
 *
 * The bytes of a socket that is fast enough gather in the kernel. The kernel wakes the engine for {@link WAKE_BYTES} at
 * once (SO_RCVLOWAT). A check, one to two milliseconds after the last one, reads all bytes that have arrived by then. A
 * FIN and a reset wake the engine as usual.
 *
 * A sender that waits for an answer to each piece, or to a window of pieces, becomes slower by that. So the gatherer
 * compares a socket with its earlier rate. If the rate is below half of that for a few checks in a row, or something
 * small arrives, the socket is read as usual again. If it was never that fast while it gathered, its next
 * {@link IDLE_PIECES} pieces do not count.
 */
import { FLAG, type SocketTable } from '../socket-table.ts';
import { setWakeBytes } from '../socket.ts';

/** The shortest time between two checks, and the longest sleep while bytes gather. */
export const LOOK_MS = 1;
/** Number of gathered bytes for which the kernel wakes the engine. */
export const WAKE_BYTES = 256 * 1024;
/**
 * A run that starts gathering: this many pieces, none smaller than this, each all that there was to read, within this
 * time.
 */
const RUN_PIECES = 64;
const PIECE_BYTES = 8 * 1024;
const RUN_MS = 32;
/**
 * Number of slow checks in a row that end gathering: at first, and once the socket was fast, because it may only be
 * delayed.
 */
const SLOW_LOOKS_AT_FIRST = 4;
const SLOW_LOOKS = 12;
/** 64 MB in pieces of 16 KB, in return for the 5 ms or so that a try takes. */
const IDLE_PIECES = 4096;

/** The state of a socket whose bytes gather. */
interface Gathering {
  /** The rate that it must reach. */
  readonly bytesPerMs: number;
  /** Number of bytes that its peer had accepted after the last check. */
  takenBytes: number;
  slowLooks: number;
  wasFast: boolean;
}

/** The sockets of one engine whose bytes gather. */
export class Gatherer {
  readonly #sockets: SocketTable;
  readonly #nowMs: () => number;
  readonly #gathering = new Map<number, Gathering>();
  #lookedMs = 0;

  /** `nowMs` is a clock. Default: that of the machine. */
  constructor(sockets: SocketTable, nowMs = () => performance.now()) {
    this.#sockets = sockets;
    this.#nowMs = nowMs;
  }

  get isEmpty(): boolean {
    return this.#gathering.size === 0;
  }

  /** Records a read that returned all available bytes. Reports whether the bytes of the socket gather from now on. */
  brought(fd: number, bytes: number): boolean {
    const sockets = this.#sockets;
    if (sockets.has(fd, FLAG.gathers)) return false;
    const before = sockets.pieces[fd] ?? 0;
    if (bytes < PIECE_BYTES) {
      if (before > 0) sockets.pieces[fd] = 0;
      return false;
    }
    const pieces = before + 1;
    sockets.pieces[fd] = pieces === RUN_PIECES ? 0 : pieces;
    if (pieces === 1) sockets.stageMs[fd] = this.#nowMs();
    if (pieces < RUN_PIECES) return false;
    const elapsedMs = this.#nowMs() - (sockets.stageMs[fd] ?? 0);
    return elapsedMs <= RUN_MS && this.#start(fd, (RUN_PIECES * bytes) / elapsedMs / 2);
  }

  /** Checks all sockets, if a check is due. `take` forwards what a socket has received, and may end its connection. */
  look(take: (fd: number) => void): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#lookedMs;
    if (elapsedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    for (const [fd, gathering] of this.#gathering) {
      take(fd);
      if (!this.#gathering.has(fd) || this.#isBulk(fd, gathering, elapsedMs)) continue;
      this.#stop(fd, gathering);
      take(fd); // bytes that arrived since; without any, this clears FLAG.readable
    }
  }

  /** Forgets a socket whose connection has ended. */
  forget(fd: number): void {
    this.#gathering.delete(fd);
  }

  #start(fd: number, bytesPerMs: number): boolean {
    if (!setWakeBytes(fd, WAKE_BYTES)) return false;
    if (this.isEmpty) this.#lookedMs = this.#nowMs();
    const takenBytes = this.#takenFrom(fd);
    this.#gathering.set(fd, { bytesPerMs, takenBytes, slowLooks: 0, wasFast: false });
    this.#sockets.set(fd, FLAG.gathers);
    return true;
  }

  /** Reports whether a socket keeps gathering, by the bytes since the last check. */
  #isBulk(fd: number, gathering: Gathering, elapsedMs: number): boolean {
    const takenBytes = this.#takenFrom(fd);
    const bytes = takenBytes - gathering.takenBytes;
    gathering.takenBytes = takenBytes;
    if (bytes >= elapsedMs * gathering.bytesPerMs) {
      gathering.wasFast = true;
      gathering.slowLooks = 0;
      return true;
    }
    gathering.slowLooks++;
    const isSmall = bytes > 0 && bytes < PIECE_BYTES;
    const slowLooks = gathering.wasFast ? SLOW_LOOKS : SLOW_LOOKS_AT_FIRST;
    return !isSmall && gathering.slowLooks < slowLooks;
  }

  /** Stops gathering: each byte wakes the engine again. */
  #stop(fd: number, { wasFast }: Gathering): void {
    this.#gathering.delete(fd);
    this.#sockets.clear(fd, FLAG.gathers);
    if (!wasFast) this.#sockets.pieces[fd] = -IDLE_PIECES;
    setWakeBytes(fd, 1);
  }

  #takenFrom(fd: number): number {
    return this.#sockets.bytes[this.#sockets.peerOf(fd)] ?? 0;
  }
}
