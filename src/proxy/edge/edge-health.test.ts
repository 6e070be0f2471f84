import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import { EdgeHealth } from './edge-health.ts';
import type { ProbeResult } from './edge-probe.ts';

const UP: ProbeResult = { isUp: true };
const DOWN: ProbeResult = {
  isUp: false,
  code: 'dial_refused',
  message: 'dial_refused: no listener',
};

function health(answer: () => ProbeResult | Error) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line) });
  const probesMs: number[] = [];
  const probe = async () => {
    probesMs.push(clock.nowMs());
    const result = answer();
    if (result instanceof Error) throw result;
    return result;
  };
  const edge = new EdgeHealth({ probe, clock, log, random: () => 0.5 });
  /** Advances the clock by half seconds, like the tick, and lets each probe finish. */
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 500) {
      clock.advance(500);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  };
  return { clock, lines, probesMs, edge, pass };
}

test('probes on start, then every ten seconds', async () => {
  const lab = health(() => UP);
  expect(lab.edge.reason()).toBe('the edge has not been probed yet');

  lab.edge.start();
  expect(lab.edge.reason()).toBe('the first probe of the edge is in progress');
  await lab.pass(30_000);

  expect(lab.probesMs).toEqual([0, 10_500, 20_500]);
  expect(lab.edge.reason()).toBeUndefined();
  expect(lab.lines).toHaveLength(1);
});

test('doubles the time between probes after failures, from one to thirty seconds', async () => {
  const lab = health(() => DOWN);

  lab.edge.start();
  await lab.pass(125_000);

  const gaps = lab.probesMs.slice(1).map((at, index) => at - lab.probesMs[index]!);
  expect(gaps.map((gap) => Math.floor(gap / 1000))).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(lab.edge.reason()).toBe('dial_refused: no listener');
  expect(lab.lines).toHaveLength(1);
});

test('never probes twice within a second, even if suspect() is called often', async () => {
  const lab = health(() => UP);
  lab.edge.start();

  for (let round = 0; round < 20; round++) {
    for (let dial = 0; dial < 50; dial++) lab.edge.suspect();
    await lab.pass(500);
  }

  const gaps = lab.probesMs.slice(1).map((at, index) => at - lab.probesMs[index]!);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
  expect(lab.probesMs.length).toBeGreaterThan(5);
});

test('recovers with the first successful probe, and logs it', async () => {
  let result = DOWN as ProbeResult;
  const lab = health((): ProbeResult => result);
  lab.edge.start();
  await lab.pass(3000);
  expect(lab.edge.isUp).toBe(false);

  result = UP;
  await lab.pass(5000);

  expect(lab.edge.isUp).toBe(true);
  expect(lab.lines.at(-1)).toContain('edge is up');
});

test('counts a probe that throws as a failure', async () => {
  const lab = health(() => new Error('a bug'));

  lab.edge.start();
  await lab.pass(5000);

  expect(lab.edge.reason()).toBe('fault: the probe failed because of a bug: a bug');
  expect(lab.edge.counts.failures).toBeGreaterThan(1);
});
