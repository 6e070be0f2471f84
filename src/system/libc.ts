/**
 * Bindings of libc for the engine and netlink, and the only file that imports bun:ffi outside of tests. These rules
 * keep it fast and safe on Bun 1.4.4 (figures from the study that docs/decisions/0001-bun.md cites):
 *
 * - Arguments and results are int32, and pointers are numbers. Bun would box 64-bit integers, and convert strings and
 *   typed arrays at each call. This way a call costs 2 to 8 ns.
 * - Every pointer comes from an {@link Arena}. JSC keeps small typed arrays inside its heap and moves them when the
 *   calling function is optimized, so a pointer to one becomes stale after some 600 calls (oven-sh/bun#32054).
 * - The statement right after a call reads errno: any other statement might make a system call too.
 *
 * Importing this file opens libc. It throws without glibc or musl, and without a JIT.
 */
import { dlopen, FFIType, ptr, toArrayBuffer, type Pointer } from 'bun:ffi';
import { constants } from 'node:os';

const { i32, u32, ptr: pointer } = FFIType;

const DECLARATIONS = {
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  epoll_wait: { args: [i32, pointer, i32, i32], returns: i32 },
  poll: { args: [pointer, u32, i32], returns: i32 },
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, u32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  accept4: { args: [i32, pointer, pointer, i32], returns: i32 },
  connect: { args: [i32, pointer, u32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  recv: { args: [i32, pointer, u32, i32], returns: i32 },
  send: { args: [i32, pointer, u32, i32], returns: i32 },
  splice: { args: [i32, pointer, i32, pointer, u32, u32], returns: i32 },
  pipe2: { args: [pointer, i32], returns: i32 },
  fcntl: { args: [i32, i32, i32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  read: { args: [i32, pointer, u32], returns: i32 },
  write: { args: [i32, pointer, u32], returns: i32 },
  __errno_location: { args: [], returns: pointer },
} as const;

/** A number for each argument. */
type Numbers<Args extends readonly unknown[]> = { -readonly [Index in keyof Args]: number };

/** The functions of libc. Every argument is a number, including pointers. */
type Calls = {
  readonly [Name in Exclude<keyof typeof DECLARATIONS, '__errno_location'>]: (
    ...args: Numbers<(typeof DECLARATIONS)[Name]['args']>
  ) => number;
} & { readonly __errno_location: () => Pointer };

function load(): Calls {
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const failures: unknown[] = [];
  for (const name of ['libc.so.6', `libc.musl-${architecture}.so.1`]) {
    try {
      return dlopen(name, DECLARATIONS).symbols as unknown as Calls;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `libc cannot be opened: ${failures.map(String).join('; ')}`);
}

const calls = load();

export const {
  epoll_create1,
  epoll_ctl,
  epoll_wait,
  poll,
  socket,
  bind,
  listen,
  accept4,
  connect,
  shutdown,
  close,
  recv,
  send,
  splice,
  pipe2,
  fcntl,
  setsockopt,
  getsockopt,
  getsockname,
  read,
  write,
} = calls;

/** Each thread has a separate errno and loads this module separately. */
const errnoCell = new Int32Array(toArrayBuffer(calls.__errno_location(), 0, 4));

/** Returns the error number of the call in the previous statement. */
export function errno(): number {
  return errnoCell[0] ?? 0;
}

/** Returns an error like those of Node, with the name of the errno as its `code`. */
export function systemError(call: string, number: number): Error & { readonly code: string } {
  const code = errnoName(number);
  return Object.assign(new Error(`${call} failed: ${code}`), { code });
}

function errnoName(number: number): string {
  const names: Readonly<Record<string, number>> = constants.errno;
  for (const name of Object.keys(names)) if (names[name] === number) return name;
  return `errno ${number}`;
}

const PAGE_BYTES = 4096;

/** Memory that the kernel may write to. Its address is valid as long as the object is referenced. */
export class Arena {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly address: number;

  constructor(sizeBytes: number) {
    // JavaScriptCore does not move a buffer of a page or more, so the views are created on top of it.
    const memory = new ArrayBuffer(Math.ceil(sizeBytes / PAGE_BYTES) * PAGE_BYTES);
    this.bytes = Buffer.from(memory);
    this.words = new Int32Array(memory);
    this.address = Number(ptr(memory));
  }
}
