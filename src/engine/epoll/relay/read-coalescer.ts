/**
 * Coalesces bulk that arrives in small pieces, as from a proxy that forwards 16 KB at a time. Without it, each piece
 * costs a wake-up, a read and a write, and no read is large enough to justify a pipe.
 *
 * The bytes of a socket that is fast enough gather in the kernel. The kernel wakes the engine for {@link WAKE_BYTES} at
 * once (SO_RCVLOWAT). A check, one to two milliseconds after the last one, reads all bytes that have arrived by then. A
 * FIN and a reset wake the engine as usual.
 *
 * This slows down a sender that waits for an answer to each piece, or to a window of pieces. So the coalescer compares
 * the rate with that before coalescing. If it is below half for a few checks in a row, or a small piece arrives,
 * coalescing ends. If the rate never reached half while coalescing, the next {@link IDLE_PIECES} pieces do not count.
 */
import { FLAG, type SocketTable } from '../socket-table.ts';
import { setWakeBytes } from '../socket.ts';

/** The shortest time between two checks, and the longest sleep while bytes gather. */
export const CHECK_MS = 1;
/** Number of gathered bytes for which the kernel wakes the engine. */
export const WAKE_BYTES = 256 * 1024;
/**
 * A run of reads that starts coalescing: RUN_PIECES pieces of at least PIECE_BYTES within RUN_MS. Each read must return
 * all available bytes.
 */
const RUN_PIECES = 64;
const PIECE_BYTES = 8 * 1024;
const RUN_MS = 32;
/**
 * Number of slow checks in a row that end coalescing: initially, and after a fast check. A socket that was fast may
 * only be delayed, so it gets more time.
 */
const INITIAL_SLOW_CHECKS = 4;
const MAX_SLOW_CHECKS = 12;
/** 64 MB in pieces of 16 KB. An unsuccessful attempt costs about 5 ms, so attempts must be rare. */
const IDLE_PIECES = 4096;

/** The state of a socket whose bytes gather. */
interface Coalescing {
  /** The rate to reach. */
  readonly bytesPerMs: number;
  /** Number of bytes that the peer had accepted at the last check. */
  takenBytes: number;
  slowChecks: number;
  wasFast: boolean;
}

/** The sockets of one engine whose bytes gather. */
export class ReadCoalescer {
  readonly #sockets: SocketTable;
  readonly #nowMs: () => number;
  readonly #coalescing = new Map<number, Coalescing>();
  #checkedMs = 0;

  /** `nowMs` is a clock. Default: that of the machine. */
  constructor(sockets: SocketTable, nowMs = () => performance.now()) {
    this.#sockets = sockets;
    this.#nowMs = nowMs;
  }

  get isEmpty(): boolean {
    return this.#coalescing.size === 0;
  }

  /** Records a read that returned all available bytes. Reports whether the bytes of the socket gather from now on. */
  recordRead(fd: number, bytes: number): boolean {
    const sockets = this.#sockets;
    if (sockets.has(fd, FLAG.coalesces)) return false;
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
  check(take: (fd: number) => void): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#checkedMs;
    if (elapsedMs < CHECK_MS) return;
    this.#checkedMs = nowMs;
    for (const [fd, state] of this.#coalescing) {
      take(fd);
      if (!this.#coalescing.has(fd) || this.#isBulk(fd, state, elapsedMs)) continue;
      this.#stop(fd, state);
      take(fd); // bytes that arrived since; without any, this clears FLAG.readable
    }
  }

  /** Forgets a socket whose connection has ended. */
  forget(fd: number): void {
    this.#coalescing.delete(fd);
  }

  #start(fd: number, bytesPerMs: number): boolean {
    if (!setWakeBytes(fd, WAKE_BYTES)) return false;
    if (this.isEmpty) this.#checkedMs = this.#nowMs();
    const takenBytes = this.#takenFrom(fd);
    this.#coalescing.set(fd, { bytesPerMs, takenBytes, slowChecks: 0, wasFast: false });
    this.#sockets.set(fd, FLAG.coalesces);
    return true;
  }

  /** Reports whether coalescing continues for a socket, by the bytes since the last check. */
  #isBulk(fd: number, state: Coalescing, elapsedMs: number): boolean {
    const takenBytes = this.#takenFrom(fd);
    const bytes = takenBytes - state.takenBytes;
    state.takenBytes = takenBytes;
    if (bytes >= elapsedMs * state.bytesPerMs) {
      state.wasFast = true;
      state.slowChecks = 0;
      return true;
    }
    state.slowChecks++;
    const isSmall = bytes > 0 && bytes < PIECE_BYTES;
    const slowChecks = state.wasFast ? MAX_SLOW_CHECKS : INITIAL_SLOW_CHECKS;
    return !isSmall && state.slowChecks < slowChecks;
  }

  /** Stops coalescing: each byte wakes the engine again. */
  #stop(fd: number, { wasFast }: Coalescing): void {
    this.#coalescing.delete(fd);
    this.#sockets.clear(fd, FLAG.coalesces);
    if (!wasFast) this.#sockets.pieces[fd] = -IDLE_PIECES;
    setWakeBytes(fd, 1);
  }

  #takenFrom(fd: number): number {
    return this.#sockets.bytes[this.#sockets.peerOf(fd)] ?? 0;
  }
}
