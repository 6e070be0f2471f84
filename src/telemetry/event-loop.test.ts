import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { systemClock } from '../clock/clock.ts';
import { EventLoopMonitor } from './event-loop.ts';

/** Returns how many blocks were longer than the bound in seconds. */
function longerThan(monitor: EventLoopMonitor, bound: string): number {
  const samples = [...monitor.lateness.samples()];
  const countOf = (le: string) => samples.find(({ labels }) => labels?.['le'] === le)?.value ?? 0;
  return countOf('+Inf') - countOf(bound);
}

test('measures the lateness of a timer, and reports the longest delay for one to two minutes', () => {
  const clock = new ManualClock();
  const monitor = new EventLoopMonitor(clock);
  monitor.start();

  for (let time = 0; time < 10; time++) clock.advance(20);
  const atRest = monitor.longestSeconds;
  clock.advance(320);
  clock.advance(120);
  const blocked = monitor.longestSeconds;
  for (let time = 0; time < 3_500; time++) clock.advance(20);
  const aMinuteLater = monitor.longestSeconds;
  for (let time = 0; time < 3_500; time++) clock.advance(20);

  expect([atRest, blocked, aMinuteLater]).toEqual([0, 0.3, 0.3]);
  expect(monitor.longestSeconds).toBe(0);
  expect(longerThan(monitor, '0.25')).toBe(1);
  expect(longerThan(monitor, '0.05')).toBe(2);
});

test('counts of a block apart the time in which the thread had a CPU', () => {
  const clock = new ManualClock();
  let cpuMs = 7;
  const monitor = new EventLoopMonitor(clock, () => cpuMs);
  monitor.start();

  cpuMs += 40;
  clock.advance(320);
  cpuMs += 20;
  clock.advance(20);

  expect([monitor.longestSeconds, monitor.longestBusySeconds]).toEqual([0.3, 0.04]);
});

test('measures nothing after it was stopped', () => {
  const clock = new ManualClock();
  const monitor = new EventLoopMonitor(clock);
  const stop = monitor.start();

  stop();
  clock.advance(1_000);

  expect(monitor.longestSeconds).toBe(0);
  expect(clock.nextDueMs).toBeUndefined();
});

test('measures a block of the real event loop', async () => {
  const monitor = new EventLoopMonitor(systemClock);
  const stop = monitor.start();
  const ticks = () => [...monitor.lateness.samples()].at(-1)?.value ?? 0;
  const untilTick = async () => {
    const before = ticks();
    while (ticks() === before) await Bun.sleep(1);
  };
  await untilTick();

  const endMs = performance.now() + 150;
  while (performance.now() < endMs);
  await untilTick();
  stop();

  expect(monitor.longestSeconds).toBeGreaterThanOrEqual(0.125);
  expect(monitor.longestBusySeconds).toBeGreaterThan(0);
  expect(monitor.longestBusySeconds).toBeLessThanOrEqual(monitor.longestSeconds);
});
