/**
 * Pipes for splice(2): bulk goes from socket to socket through one of them without passing through this process. Few are
 * enough, since a connection holds one only while it has more to say than a read can take.
 */
import * as libc from '../../../system/libc.ts';
import { Arena } from '../../../system/libc.ts';
import { F_SETPIPE_SZ, O_CLOEXEC, O_NONBLOCK } from '../../../system/linux.ts';

/** What a pipe takes at most. */
export const PIPE_BYTES = 1 << 20;
/** What it has to take: less is slower than copying. */
const SMALLEST_PIPE_BYTES = 1 << 17;
const MAX_PIPES = 32;

/** A pipe, and how many bytes are in it. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  bytes: number;
}

/** The pipes of one engine, by the end that writes into them. */
export class Pipes {
  readonly #hasRoomFor: (descriptor: number) => boolean;
  readonly #ends = new Arena(8);
  readonly #free: Pipe[] = [];
  readonly #taken = new Map<number, Pipe>();
  #count = 0;

  /** `hasRoomFor` says whether a descriptor of this number may be kept: whoever connects comes first. */
  constructor(hasRoomFor: (descriptor: number) => boolean) {
    this.#hasRoomFor = hasRoomFor;
  }

  /** A pipe for the bytes of this end; absent if there are enough of them, or no descriptors. */
  take(from: number): Pipe | undefined {
    const pipe = this.#free.pop() ?? this.#open();
    if (pipe !== undefined) this.#taken.set(from, pipe);
    return pipe;
  }

  /** The pipe that this end has. */
  of(from: number): Pipe {
    const pipe = this.#taken.get(from);
    if (pipe === undefined) throw new Error(`descriptor ${from} has no pipe`);
    return pipe;
  }

  /** Takes a pipe back, and returns how many bytes were lost with it: one that is not empty is thrown away. */
  giveBack(from: number): number {
    const pipe = this.of(from);
    this.#taken.delete(from);
    if (pipe.bytes === 0) this.#free.push(pipe);
    else this.#close(pipe);
    return pipe.bytes;
  }

  /** Closes those that nobody has. */
  closeFree(): void {
    for (const pipe of this.#free.splice(0)) this.#close(pipe);
  }

  #open(): Pipe | undefined {
    if (this.#count >= MAX_PIPES) return undefined;
    if (libc.pipe2(this.#ends.address, O_NONBLOCK | O_CLOEXEC) < 0) return undefined;
    const [readEnd = -1, writeEnd = -1] = this.#ends.words;
    const pipe = { readEnd, writeEnd, bytes: 0 };
    this.#count++;
    if (!this.#hasRoomFor(Math.max(readEnd, writeEnd))) {
      this.#close(pipe);
      return undefined;
    }
    // Without privileges fs.pipe-user-pages-soft may refuse the large one.
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
