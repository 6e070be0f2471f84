/**
 * Pipes for splice(2). Bulk goes through a pipe from socket to socket without passing through this process. Few pipes
 * are enough, because a connection has one only while it sends more than one read returns.
 */
import * as libc from '../../../system/libc.ts';
import { Arena } from '../../../system/libc.ts';
import { F_SETPIPE_SZ, O_CLOEXEC, O_NONBLOCK } from '../../../system/linux.ts';

/** The capacity of a pipe. */
export const PIPE_BYTES = 1 << 20;
/** The minimum capacity. A smaller pipe is slower than copying. */
const SMALLEST_PIPE_BYTES = 1 << 17;
const MAX_PIPES = 32;

/** A pipe, and how many bytes are in it. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  bytes: number;
}

/** The pipes of one engine, by the socket whose bytes they carry. */
export class Pipes {
  readonly #hasRoomFor: (descriptor: number) => boolean;
  readonly #descriptors = new Arena(8);
  readonly #free: Pipe[] = [];
  readonly #taken = new Map<number, Pipe>();
  #count = 0;

  /** `hasRoomFor` reports whether a descriptor of this number may stay open. Connections take precedence over pipes. */
  constructor(hasRoomFor: (descriptor: number) => boolean) {
    this.#hasRoomFor = hasRoomFor;
  }

  /** Assigns a pipe to this socket. Returns undefined if the maximum is in use, or if no descriptors are free. */
  take(from: number): Pipe | undefined {
    const pipe = this.#free.pop() ?? this.#open();
    if (pipe !== undefined) this.#taken.set(from, pipe);
    return pipe;
  }

  /** Returns the pipe of this socket. */
  get(from: number): Pipe {
    const pipe = this.#taken.get(from);
    if (pipe === undefined) throw new Error(`descriptor ${from} has no pipe`);
    return pipe;
  }

  /** Takes a pipe back, and returns the number of bytes lost with it. A pipe that is not empty is closed. */
  giveBack(from: number): number {
    const pipe = this.get(from);
    this.#taken.delete(from);
    if (pipe.bytes === 0) this.#free.push(pipe);
    else this.#close(pipe);
    return pipe.bytes;
  }

  /** Closes the unused pipes. */
  closeFree(): void {
    for (const pipe of this.#free.splice(0)) this.#close(pipe);
  }

  #open(): Pipe | undefined {
    if (this.#count >= MAX_PIPES) return undefined;
    if (libc.pipe2(this.#descriptors.address, O_NONBLOCK | O_CLOEXEC) < 0) return undefined;
    const [readEnd = -1, writeEnd = -1] = this.#descriptors.words;
    const pipe = { readEnd, writeEnd, bytes: 0 };
    this.#count++;
    if (!this.#hasRoomFor(Math.max(readEnd, writeEnd))) {
      this.#close(pipe);
      return undefined;
    }
    // For an unprivileged process, fs.pipe-user-pages-soft may forbid the large capacity.
    const isLarge = libc.fcntl(writeEnd, F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES;
    if (isLarge || libc.fcntl(writeEnd, F_SETPIPE_SZ, SMALLEST_PIPE_BYTES) >= 0) return pipe;
    this.#close(pipe);
    return undefined;
  }

  #close(pipe: Pipe): void {
    libc.close(pipe.readEnd);
    libc.close(pipe.writeEnd);
    this.#count--;
  }
}
