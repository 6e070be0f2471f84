import { afterEach, beforeEach, expect, test } from 'bun:test';
import { SocketTable, FLAG } from '../socket-table.ts';
import { Gatherer } from './gatherer.ts';
import * as libc from '../../../system/libc.ts';
import { AF_INET, SO, SOCK_STREAM, SOL_SOCKET } from '../../../system/linux.ts';

const PIECE = 16 * 1024;

let nowMs = 0;
let sockets: SocketTable;
let gatherer: Gatherer;
let end = -1;
let peer = -1;

beforeEach(() => {
  nowMs = 1000;
  sockets = new SocketTable();
  gatherer = new Gatherer(sockets, () => nowMs);
  [end, peer] = [libc.socket(AF_INET, SOCK_STREAM, 0), libc.socket(AF_INET, SOCK_STREAM, 0)];
  sockets.openClient(peer, peer, nowMs, 0);
  sockets.openUpstream(end, peer, 0);
});

afterEach(() => {
  libc.close(end);
  libc.close(peer);
});

/** Returns for how many bytes the kernel wakes the engine. */
function wakeBytes(): number {
  const memory = new libc.Arena(64);
  memory.words[0] = 4;
  libc.getsockopt(end, SOL_SOCKET, SO.RCVLOWAT, memory.address + 4, memory.address);
  return memory.words[1] ?? -1;
}

/** Records pieces that arrive one at a time. Returns whether the bytes gather after the last one. */
function bring(pieces: number, eachMs: number, bytes = PIECE): boolean {
  let gathers = false;
  for (let piece = 0; piece < pieces; piece++) {
    nowMs += eachMs;
    gathers = gatherer.brought(end, bytes);
  }
  return gathers;
}

/** Lets time pass until the next check, which finds this many bytes. Returns how often the socket was checked. */
function lookAfter(ms: number, bytes: number): number {
  let looks = 0;
  nowMs += ms;
  gatherer.look((one) => {
    if (looks === 0) sockets.bytes[peer] = (sockets.bytes[peer] ?? 0) + bytes;
    if (one === end) looks++;
  });
  return looks;
}

test('begins with the last piece of a fast run, and has the kernel wake us less often', () => {
  const before = bring(63, 0.1);
  const wakeBefore = wakeBytes();

  const begins = bring(1, 0.1);

  expect([before, begins]).toEqual([false, true]);
  expect(wakeBefore).toBe(1);
  expect(wakeBytes()).toBe(256 * 1024);
  expect(sockets.has(end, FLAG.gathers)).toBe(true);
  expect(gatherer.isEmpty).toBe(false);
});

test.each([
  ['slow', () => bring(200, 1)],
  ['small', () => bring(200, 0.1, 4096)],
  ['broken by a small one', () => bring(63, 0.1) || bring(1, 0.1, 100) || bring(63, 0.1)],
])('does not begin when pieces are %s', (_, run) => {
  const begins = run();

  expect(begins).toBe(false);
  expect(gatherer.isEmpty).toBe(true);
  expect(wakeBytes()).toBe(1);
});

test('looks when a look is due, and not before', () => {
  bring(64, 0.1);

  const early = lookAfter(0.9, 0);
  const due = lookAfter(0.1, 0);

  expect([early, due]).toEqual([0, 1]);
});

test('goes on for as long as there is half of what there was, even after a pause', () => {
  bring(64, 0.1); // 160 KB in a millisecond
  lookAfter(1, 90 * 1024);

  for (let count = 0; count < 20; count++) {
    for (let slow = 0; slow < 11; slow++) lookAfter(1, 0);
    lookAfter(1, 90 * 1024);
  }

  expect(sockets.has(end, FLAG.gathers)).toBe(true);
});

test('sockets when the bulk is over, with a last look for what came meanwhile', () => {
  bring(64, 0.1);
  lookAfter(1, 200 * 1024);

  const looks = Array.from({ length: 13 }, () => lookAfter(1, 50 * 1024));
  const wakeAfter = wakeBytes();
  const beginsAgain = bring(64, 0.1);

  expect(looks).toEqual([...Array<number>(11).fill(1), 2, 0]);
  expect(wakeAfter).toBe(1);
  expect(beginsAgain).toBe(true);
});

test('sockets with the first small thing that comes', () => {
  bring(64, 0.1);
  lookAfter(1, 200 * 1024);
  lookAfter(1, 0);

  lookAfter(1, 700);

  expect(gatherer.isEmpty).toBe(true);
  expect(wakeBytes()).toBe(1);
});

test('leaves whom it made slower alone for thousands of pieces, small ones or not between', () => {
  bring(64, 0.1);
  for (let look = 0; look < 4; look++) lookAfter(1, PIECE);
  const hasEnded = gatherer.isEmpty;

  const soon = bring(4096, 0.1) || bring(1, 0.1, 100) || bring(63, 0.1);
  const inTheEnd = bring(1, 0.1);

  expect(hasEnded).toBe(true);
  expect(soon).toBe(false);
  expect(inTheEnd).toBe(true);
});

test('forgets an end that is over, also one that a look has ended', () => {
  bring(64, 0.1);

  nowMs += 1;
  gatherer.look((one) => gatherer.forget(one));

  expect(gatherer.isEmpty).toBe(true);
  expect(lookAfter(1, 0)).toBe(0);
});
