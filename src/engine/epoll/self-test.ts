/**
 * Checks at startup whether the system calls that the epoll engine needs work on this machine with this version of Bun.
 */
import { findBunLoop } from './bun-loop.ts';
import * as libc from '../../system/libc.ts';
import { Arena, errno, systemError } from '../../system/libc.ts';
import { ERRNO, O_CLOEXEC, O_NONBLOCK } from '../../system/linux.ts';

/** Stale pointers appeared after some 600 calls, when the JIT had optimized the calling function. */
const ROUND_TRIPS = 3000;
const INTO_AT = 64;
const WORD_BYTES = 4;

/** Runs the self-test. @throws Error that says what does not work. */
export function testEpoll(): void {
  testErrno();
  testPointers();
  findBunLoop();
}

function testErrno(): void {
  const result = libc.read(-1, 0, 0);
  const failure = errno();
  if (result === -1 && failure === ERRNO.EBADF) return;
  throw new Error(
    `a read from an invalid descriptor returned ${result} with errno ${failure} instead of -1 with EBADF`,
  );
}

/** Sends numbers through a pipe. The kernel must read and write the memory that this process uses. */
function testPointers(): void {
  const memory = new Arena(4096);
  if (libc.pipe2(memory.address, O_NONBLOCK | O_CLOEXEC) < 0) throw systemError('pipe2', errno());
  const [readEnd = -1, writeEnd = -1] = memory.words;
  try {
    for (let number = 1; number <= ROUND_TRIPS; number++) {
      const received = roundTrip(memory, readEnd, writeEnd, number);
      if (received !== number) throw new Error(`wrote ${number} to a pipe and read ${received}`);
    }
  } finally {
    libc.close(readEnd);
    libc.close(writeEnd);
  }
}

function roundTrip(memory: Arena, readEnd: number, writeEnd: number, number: number): number {
  memory.words[0] = number;
  libc.write(writeEnd, memory.address, WORD_BYTES);
  libc.read(readEnd, memory.address + INTO_AT, WORD_BYTES);
  return memory.words[INTO_AT / WORD_BYTES] ?? 0;
}
