import { dlopen, FFIType, ptr } from 'bun:ffi';

const CLONE_NEWNET = 0x40000000;
const LOCK_EX = 2;
const LOCK_NB = 4;
const O_RDONLY = 0;

/** The garbage collector may move smaller arrays while a pointer to them is in use. */
const SAFE_SIZE = 4096;

const libc = dlopen('libc.so.6', {
  open: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
  setns: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
}).symbols;

/**
 * Moves this thread into the network namespace of another process. Open sockets stay in the old namespace, so a process
 * can listen in one and dial in the other.
 */
export function enterNetworkOf(pid: number): void {
  const path = new Uint8Array(SAFE_SIZE);
  new TextEncoder().encodeInto(`/proc/${pid}/ns/net\0`, path);
  const fd = libc.open(ptr(path), O_RDONLY);
  if (fd < 0) throw new Error(`cannot open /proc/${pid}/ns/net`);
  const result = libc.setns(fd, CLONE_NEWNET);
  libc.close(fd);
  if (result !== 0) throw new Error(`cannot enter the network of process ${pid}: setns failed`);
}

/** Takes the lock on an open file if it is free. The kernel releases it when the process ends, even if it is killed. */
export function tryLock(fd: number): boolean {
  return libc.flock(fd, LOCK_EX | LOCK_NB) === 0;
}
