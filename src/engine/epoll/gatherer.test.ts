import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Ends, FLAG } from './ends.ts';
import { Gatherer } from './gatherer.ts';
import * as libc from './libc.ts';
import { AF_INET, SO, SOCK_STREAM, SOL_SOCKET } from './linux.ts';

const PIECE = 16 * 1024;

let nowMs = 0;
let ends: Ends;
let gatherer: Gatherer;
let end = -1;
let peer = -1;

beforeEach(() => {
  nowMs = 1000;
  ends = new Ends();
  gatherer = new Gatherer(ends, () => nowMs);
  [end, peer] = [libc.socket(AF_INET, SOCK_STREAM, 0), libc.socket(AF_INET, SOCK_STREAM, 0)];
  ends.openClient(peer, nowMs, 0);
  ends.openUpstream(end, peer, 0);
});

afterEach(() => {
  libc.close(end);
  libc.close(peer);
});

/** For how many bytes the kernel wakes us. */
function wakeBytes(): number {
  const memory = new libc.Arena(64);
  memory.words[0] = 4;
  libc.getsockopt(end, SOL_SOCKET, SO.RCVLOWAT, memory.address + 4, memory.address);
  return memory.words[1] ?? -1;
}

/** The end brings pieces one at a time; whether the last one made it gather. */
function bring(pieces: number, eachMs: number, bytes = PIECE): boolean {
  let gathers = false;
  for (let piece = 0; piece < pieces; piece++) {
    nowMs += eachMs;
    gathers = gatherer.brought(end, bytes);
  }
  return gathers;
}

/** So much time passes, and the peer has taken so many bytes meanwhile. Who was looked at? */
function lookAfter(ms: number, bytes: number): number[] {
  nowMs += ms;
  ends.bytes[peer] = (ends.bytes[peer] ?? 0) + bytes;
  const looked: number[] = [];
  gatherer.look((one) => looked.push(one));
  return looked;
}

test('begins with the last piece of a fast run, and has the kernel wake us less often', () => {
  const before = bring(63, 0.1);
  const wakeBefore = wakeBytes();

  const begins = bring(1, 0.1);

  expect([before, begins]).toEqual([false, true]);
  expect(wakeBefore).toBe(1);
  expect(wakeBytes()).toBe(128 * 1024);
  expect(ends.has(end, FLAG.gathers)).toBe(true);
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

  const early = lookAfter(0.4, 0);
  const due = lookAfter(0.6, 0);

  expect(early).toEqual([]);
  expect(due).toEqual([end]);
});

test('goes on for as long as there is half of what there was, even after a pause', () => {
  bring(64, 0.1); // 160 KB in a millisecond

  for (let count = 0; count < 20; count++) {
    for (let slow = 0; slow < 3; slow++) lookAfter(1, 0);
    lookAfter(1, 90 * 1024);
  }

  expect(ends.has(end, FLAG.gathers)).toBe(true);
});

test('ends with one last look when the bulk is over, and begins again with the next', () => {
  bring(64, 0.1);
  lookAfter(1, 200 * 1024);

  const looked = [1, 2, 3, 4, 5].map(() => lookAfter(1, 50 * 1024).length);
  const wakeAfter = wakeBytes();
  const beginsAgain = bring(64, 0.1);

  expect(looked).toEqual([1, 1, 1, 1, 0]);
  expect(wakeAfter).toBe(1);
  expect(beginsAgain).toBe(true);
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

test('forgets an end that is over', () => {
  bring(64, 0.1);

  gatherer.forget(end);

  expect(gatherer.isEmpty).toBe(true);
  expect(lookAfter(1, 0)).toEqual([]);
});
