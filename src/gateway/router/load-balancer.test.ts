import { expect, test } from 'bun:test';
import { Endpoint } from '../../engine/endpoint.ts';
import {
  FIRST_BACKOFF_MS,
  MAX_BACKOFF_MS,
  MAX_TRIED,
  LoadBalancer,
  TRIAL_MS,
} from './load-balancer.ts';

let nowMs = 0;
const now = () => nowMs;
const toEndpoint = (text: string) => new Endpoint('10.0.0.1', Number(text.split(':')[1]));

/** Returns a load balancer for ports 1 to `count` that begins with the first and has no jitter. */
function createBalancer(count: number) {
  nowMs = 1000;
  const balancer = new LoadBalancer(() => 0);
  balancer.replace(addresses(count), toEndpoint);
  return balancer;
}

function addresses(count: number) {
  return Array.from({ length: count }, (_, index) => `10.0.0.1:${index + 1}`);
}

function fail(balancer: LoadBalancer, index: number) {
  return balancer.failed(balancer.at(index)!, nowMs);
}

test('picks the endpoints in turn', () => {
  const balancer = createBalancer(3);

  expect([1, 2, 3, 4].map(() => balancer.pick(0, now))).toEqual([0, 1, 2, 0]);
});

test('does not read the clock while all endpoints work', () => {
  const balancer = createBalancer(2);
  const noClock = () => {
    throw new Error('the clock was read');
  };

  expect(balancer.pick(0, noClock)).toBe(0);
});

test('returns -1 if there are no endpoints or all were tried', () => {
  expect(createBalancer(0).pick(0, now)).toBe(-1);
  expect(createBalancer(2).pick(0b11, now)).toBe(-1);
});

test('skips an endpoint that backs off, and spreads its share evenly', () => {
  const balancer = createBalancer(3);
  fail(balancer, 0);

  const picked = Array.from({ length: 60 }, () => balancer.pick(0, now));

  expect(picked).not.toContain(0);
  const secondPicks = picked.filter((index) => index === 1).length;
  expect(secondPicks).toBeWithin(25, 36);
});

test('picks a failed endpoint again after its back-off, and doubles the back-off if it fails again', () => {
  const balancer = createBalancer(2);
  const isBackingOff = () => balancer.unavailableCount(nowMs) === 1;
  fail(balancer, 0);
  nowMs += FIRST_BACKOFF_MS - 1;
  expect(isBackingOff()).toBeTrue();
  nowMs += 1;
  expect(isBackingOff()).toBeFalse();

  fail(balancer, 0);
  nowMs += 2 * FIRST_BACKOFF_MS - 1;
  expect(isBackingOff()).toBeTrue();
  for (let times = 0; times < 10; times++) {
    nowMs += MAX_BACKOFF_MS;
    fail(balancer, 0);
  }
  nowMs += MAX_BACKOFF_MS;

  expect(isBackingOff()).toBeFalse();
});

test('gives an endpoint one trial connection after its back-off, and avoids it for other connections', () => {
  const balancer = createBalancer(3);
  const picks = (count: number) => Array.from({ length: count }, () => balancer.pick(0, now));
  fail(balancer, 0);
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

test('ends a trial with its result: available again, or twice the back-off', () => {
  const balancer = createBalancer(2);
  const picks = () =>
    new Set([balancer.pick(0, now), balancer.pick(0, now), balancer.pick(0, now)]);
  fail(balancer, 0);
  nowMs += FIRST_BACKOFF_MS;

  expect(picks()).toEqual(new Set([0, 1]));
  fail(balancer, 0);
  nowMs += 2 * FIRST_BACKOFF_MS - 1;
  expect(picks()).toEqual(new Set([1]));
  nowMs += 1;
  expect(picks()).toEqual(new Set([0, 1]));
  balancer.succeeded(balancer.at(0)!);

  const picked = Array.from({ length: 4 }, () => balancer.pick(0, now));
  expect(picked.filter((index) => index === 0)).toHaveLength(2);
});

test('counts dials that fail together as one failure', () => {
  const balancer = createBalancer(2);

  for (let times = 0; times < 100; times++) fail(balancer, 0);
  nowMs += FIRST_BACKOFF_MS;

  expect(balancer.unavailableCount(nowMs)).toBe(0);
});

test('ends the back-off when a dial succeeds', () => {
  const balancer = createBalancer(2);
  fail(balancer, 0);
  balancer.succeeded(balancer.at(0)!);

  expect(balancer.unavailableCount(nowMs)).toBe(0);
  expect(new Set([balancer.pick(0, now), balancer.pick(0, now)])).toEqual(new Set([0, 1]));
});

test('picks the endpoint whose back-off ends first if all back off', () => {
  const balancer = createBalancer(3);
  for (const index of [2, 0, 1]) {
    fail(balancer, index);
    nowMs += 10;
  }

  expect(balancer.pick(0, now)).toBe(2);
  expect(balancer.pick(0b100, now)).toBe(0);
});

test('dials no endpoint twice for one connection, even with more than MAX_TRIED endpoints', () => {
  const balancer = createBalancer(MAX_TRIED + 4);
  const seen: number[] = [];
  let tried = 0;
  for (let index = balancer.pick(0, now); index >= 0; index = balancer.pick(tried, now)) {
    seen.push(index);
    tried |= fail(balancer, index);
  }

  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toHaveLength(MAX_TRIED);
});

test('keeps back-off and identity of unchanged endpoints when the list changes', () => {
  const balancer = createBalancer(3);
  const second = balancer.at(1);
  fail(balancer, 1);

  balancer.replace(['10.0.0.1:2', '10.0.0.1:9'], toEndpoint);

  expect(balancer.at(0)).toBe(second);
  expect(balancer.unavailableCount(nowMs)).toBe(1);
  expect(balancer.pick(0, now)).toBe(1);
  expect(balancer.failed(toEndpoint('10.0.0.1:1'), nowMs)).toBe(0);
});
