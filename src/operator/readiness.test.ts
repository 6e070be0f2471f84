import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { createLogger } from '../telemetry/log.ts';
import { logReadiness } from './readiness.ts';

/** A process that is as the test says, and what it logs. */
function bench() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const state: { reason: string | undefined } = { reason: undefined };
  const write = (line: string) => {
    const { msg, reason } = JSON.parse(line) as { msg: string; reason?: string };
    lines.push(reason === undefined ? msg : `${msg}: ${reason}`);
  };
  const log = createLogger({ level: 'info', write });
  logReadiness({ notReady: () => state.reason, log, clock });
  return { clock, lines, state };
}

describe('a process that is not ready', () => {
  test('logs the reason at once, and rarely after that', () => {
    const { clock, lines, state } = bench();
    state.reason = 'no CRDs';

    clock.advance(1_000);
    expect(lines).toEqual(['not ready: no CRDs']);
    clock.advance(599_000);
    expect(lines).toHaveLength(1);
    clock.advance(2_000);

    expect(lines).toEqual(['not ready: no CRDs', 'not ready: no CRDs']);
  });

  test('logs a changed reason only after a while', () => {
    const { clock, lines, state } = bench();
    state.reason = 'refused';
    clock.advance(1_000);

    state.reason = 'timed out';
    clock.advance(5_000);
    expect(lines).toHaveLength(1);
    clock.advance(30_000);

    expect(lines).toEqual(['not ready: refused', 'not ready: timed out']);
  });

  test('logs that it is ready', () => {
    const { clock, lines, state } = bench();
    state.reason = 'refused';
    clock.advance(1_000);

    state.reason = undefined;
    clock.advance(5_000);

    expect(lines).toEqual(['not ready: refused', 'ready']);
  });

  test('logs nothing if it was always ready', () => {
    const { clock, lines } = bench();

    clock.advance(60_000);

    expect(lines).toEqual([]);
  });
});
