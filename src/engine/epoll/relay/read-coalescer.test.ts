import { afterEach, beforeEach, expect, test } from 'bun:test';
import { SocketTable, FLAG } from '../socket-table.ts';
import { ReadCoalescer } from './read-coalescer.ts';
import * as libc from '../../../system/libc.ts';
import { AF_INET, SO, SOCK_STREAM, SOL_SOCKET } from '../../../system/linux.ts';

const PIECE = 16 * 1024;

let nowMs = 0;
let sockets: SocketTable;
let coalescer: ReadCoalescer;
let fd = -1;
let peer = -1;

beforeEach(() => {
  nowMs = 1000;
  sockets = new SocketTable();
  coalescer = new ReadCoalescer(sockets, () => nowMs);
  [fd, peer] = [libc.socket(AF_INET, SOCK_STREAM, 0), libc.socket(AF_INET, SOCK_STREAM, 0)];
  sockets.openClient(peer, peer, nowMs, 0);
  sockets.openUpstream(fd, peer, 0);
});

afterEach(() => {
  libc.close(fd);
  libc.close(peer);
});

/** Returns the number of bytes from which the kernel wakes the engine. */
function wakeBytes(): number {
  const memory = new libc.Arena(64);
  memory.words[0] = 4;
  libc.getsockopt(fd, SOL_SOCKET, SO.RCVLOWAT, memory.address + 4, memory.address);
  return memory.words[1] ?? -1;
}

/** Records pieces that arrive one at a time. Returns whether the bytes gather after the last one. */
function read(pieces: number, eachMs: number, bytes = PIECE): boolean {
  let coalesces = false;
  for (let piece = 0; piece < pieces; piece++) {
    nowMs += eachMs;
    coalesces = coalescer.recordRead(fd, bytes);
  }
  return coalesces;
}

/** Lets time pass until the next check, which finds this many bytes. Returns how often the socket was checked. */
function checkAfter(ms: number, bytes: number): number {
  let checks = 0;
  nowMs += ms;
  coalescer.check((checkedFd) => {
    if (checks === 0) sockets.bytes[peer] = (sockets.bytes[peer] ?? 0) + bytes;
    if (checkedFd === fd) checks++;
  });
  return checks;
}

test('starts after a fast run of pieces, and makes the kernel wake the engine less often', () => {
  const before = read(63, 0.1);
  const wakeBefore = wakeBytes();

  const starts = read(1, 0.1);

  expect([before, starts]).toEqual([false, true]);
  expect(wakeBefore).toBe(1);
  expect(wakeBytes()).toBe(256 * 1024);
  expect(sockets.has(fd, FLAG.coalesces)).toBe(true);
  expect(coalescer.isEmpty).toBe(false);
});

test.each([
  ['slow', () => read(200, 1)],
  ['small', () => read(200, 0.1, 4096)],
  ['interrupted by a small piece', () => read(63, 0.1) || read(1, 0.1, 100) || read(63, 0.1)],
])('does not start if pieces are %s', (_, run) => {
  const starts = run();

  expect(starts).toBe(false);
  expect(coalescer.isEmpty).toBe(true);
  expect(wakeBytes()).toBe(1);
});

test('checks only when a check is due', () => {
  read(64, 0.1);

  const early = checkAfter(0.9, 0);
  const due = checkAfter(0.1, 0);

  expect([early, due]).toEqual([0, 1]);
});

test('continues while the rate is at least half of the earlier rate, even after a pause', () => {
  read(64, 0.1); // 160 KB in a millisecond
  checkAfter(1, 90 * 1024);

  for (let count = 0; count < 20; count++) {
    for (let slow = 0; slow < 11; slow++) checkAfter(1, 0);
    checkAfter(1, 90 * 1024);
  }

  expect(sockets.has(fd, FLAG.coalesces)).toBe(true);
});

test('stops when the bulk transfer is over, after a last check for new bytes', () => {
  read(64, 0.1);
  checkAfter(1, 200 * 1024);

  const checks = Array.from({ length: 13 }, () => checkAfter(1, 50 * 1024));
  const wakeAfter = wakeBytes();
  const startsAgain = read(64, 0.1);

  expect(checks).toEqual([...Array<number>(11).fill(1), 2, 0]);
  expect(wakeAfter).toBe(1);
  expect(startsAgain).toBe(true);
});

test('stops at the first small read', () => {
  read(64, 0.1);
  checkAfter(1, 200 * 1024);
  checkAfter(1, 0);

  checkAfter(1, 700);

  expect(coalescer.isEmpty).toBe(true);
  expect(wakeBytes()).toBe(1);
});

test('ignores the next thousands of pieces of a socket that coalescing has slowed down', () => {
  read(64, 0.1);
  for (let check = 0; check < 4; check++) checkAfter(1, PIECE);
  const hasEnded = coalescer.isEmpty;

  const soon = read(4096, 0.1) || read(1, 0.1, 100) || read(63, 0.1);
  const afterwards = read(1, 0.1);

  expect(hasEnded).toBe(true);
  expect(soon).toBe(false);
  expect(afterwards).toBe(true);
});

test('forgets a socket whose connection has ended, also during a check', () => {
  read(64, 0.1);

  nowMs += 1;
  coalescer.check((checkedFd) => coalescer.forget(checkedFd));

  expect(coalescer.isEmpty).toBe(true);
  expect(checkAfter(1, 0)).toBe(0);
});
