import { expect, test } from 'bun:test';
import { Endpoint } from '../../engine/endpoint.ts';
import { FIRST_BACKOFF_MS, MAX_BACKOFF_MS, MAX_TRIED, LoadBalancer, TRIAL_MS } from './load-balancer.ts';

let nowMs = 0;
const now = () => nowMs;
const make = (text: string) => new Endpoint('10.0.0.1', Number(text.split(':')[1]));

/** Returns a load balancer for ports 1 to `count` that begins with the first and has no jitter. */
function loadBalancer(count: number) {
  nowMs = 1000;
  const made = new LoadBalancer(() => 0);
  made.replace(addresses(count), make);
  return made;
}

function addresses(count: number) {
  return Array.from({ length: count }, (_, index) => `10.0.0.1:${index + 1}`);
}

function fails(of: LoadBalancer, index: number) {
  return of.failed(of.at(index)!, nowMs);
}

test('takes the endpoints in turn', () => {
  const of = loadBalancer(3);

  expect([1, 2, 3, 4].map(() => of.pick(0, now))).toEqual([0, 1, 2, 0]);
});

test('reads no clock while all are well', () => {
  const of = loadBalancer(2);
  const noClock = () => {
    throw new Error('the clock was read');
  };

  expect(of.pick(0, noClock)).toBe(0);
});

test('has nothing to give without endpoints, or when all were tried', () => {
  expect(loadBalancer(0).pick(0, now)).toBe(-1);
  expect(loadBalancer(2).pick(0b11, now)).toBe(-1);
});

test('passes over one that rests, and gives its turn to the others evenly', () => {
  const of = loadBalancer(3);
  fails(of, 0);

  const picked = Array.from({ length: 60 }, () => of.pick(0, now));

  expect(picked).not.toContain(0);
  const ones = picked.filter((index) => index === 1).length;
  expect(ones).toBeWithin(25, 36);
});

test('takes it back after its rest, and doubles the rest if it fails again', () => {
  const of = loadBalancer(2);
  const rests = () => of.resting(nowMs) === 1;
  fails(of, 0);
  nowMs += FIRST_BACKOFF_MS - 1;
  expect(rests()).toBeTrue();
  nowMs += 1;
  expect(rests()).toBeFalse();

  fails(of, 0);
  nowMs += 2 * FIRST_BACKOFF_MS - 1;
  expect(rests()).toBeTrue();
  for (let times = 0; times < 10; times++) {
    nowMs += MAX_BACKOFF_MS;
    fails(of, 0);
  }
  nowMs += MAX_BACKOFF_MS;

  expect(rests()).toBeFalse();
});

test('has one connection try out an endpoint after its rest, and sends the others elsewhere', () => {
  const of = loadBalancer(3);
  const picks = (count: number) => Array.from({ length: count }, () => of.pick(0, now));
  fails(of, 0);
  nowMs += FIRST_BACKOFF_MS;

  const inTrial = picks(300);
  nowMs += TRIAL_MS - 1;
  const later = picks(10);
  nowMs += 1;
  const next = picks(300);

  expect(inTrial.filter((index) => index === 0)).toHaveLength(1);
  expect(later).not.toContain(0);
  expect(next.filter((index) => index === 0)).toHaveLength(1);
});

test('ends a trial with its result: back in turn, or twice the rest', () => {
  const of = loadBalancer(2);
  const picks = () => new Set([of.pick(0, now), of.pick(0, now), of.pick(0, now)]);
  fails(of, 0);
  nowMs += FIRST_BACKOFF_MS;

  expect(picks()).toEqual(new Set([0, 1]));
  fails(of, 0);
  nowMs += 2 * FIRST_BACKOFF_MS - 1;
  expect(picks()).toEqual(new Set([1]));
  nowMs += 1;
  expect(picks()).toEqual(new Set([0, 1]));
  of.succeeded(of.at(0)!);

  const picked = Array.from({ length: 4 }, () => of.pick(0, now));
  expect(picked.filter((index) => index === 0)).toHaveLength(2);
});

test('counts dials that fail together as one failure', () => {
  const of = loadBalancer(2);

  for (let times = 0; times < 100; times++) fails(of, 0);
  nowMs += FIRST_BACKOFF_MS;

  expect(of.resting(nowMs)).toBe(0);
});

test('ends the rest when a dial works', () => {
  const of = loadBalancer(2);
  fails(of, 0);
  of.succeeded(of.at(0)!);

  expect(of.resting(nowMs)).toBe(0);
  expect(new Set([of.pick(0, now), of.pick(0, now)])).toEqual(new Set([0, 1]));
});

test('tries the one whose rest ends first when all rest', () => {
  const of = loadBalancer(3);
  for (const index of [2, 0, 1]) {
    fails(of, index);
    nowMs += 10;
  }

  expect(of.pick(0, now)).toBe(2);
  expect(of.pick(0b100, now)).toBe(0);
});

test('dials each endpoint once for one connection, however many there are', () => {
  const of = loadBalancer(MAX_TRIED + 4);
  const seen: number[] = [];
  let tried = 0;
  for (let index = of.pick(0, now); index >= 0; index = of.pick(tried, now)) {
    seen.push(index);
    tried |= fails(of, index);
  }

  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toHaveLength(MAX_TRIED);
});

test('keeps rest and identity of those that stay when the list changes', () => {
  const of = loadBalancer(3);
  const second = of.at(1);
  fails(of, 1);

  of.replace(['10.0.0.1:2', '10.0.0.1:9'], make);

  expect(of.at(0)).toBe(second);
  expect(of.resting(nowMs)).toBe(1);
  expect(of.pick(0, now)).toBe(1);
  expect(of.failed(make('10.0.0.1:1'), nowMs)).toBe(0);
});
