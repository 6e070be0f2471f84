import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { createLogger } from '../telemetry/log.ts';
import { logReadiness } from './readiness.ts';

/** A process that is as the test says, and what it logs. */
function bench() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const state: { because: string | undefined } = { because: undefined };
  const write = (line: string) => {
    const { msg, because } = JSON.parse(line) as { msg: string; because?: string };
    lines.push(because === undefined ? msg : `${msg}: ${because}`);
  };
  const log = createLogger({ level: 'info', write });
  logReadiness({ notReady: () => state.because, log, clock });
  return { clock, lines, state };
}

describe('a process that is not ready', () => {
  test('says why at once, and rarely after that', () => {
    const { clock, lines, state } = bench();
    state.because = 'no CRDs';

    clock.advance(1_000);
    expect(lines).toEqual(['not ready: no CRDs']);
    clock.advance(599_000);
    expect(lines).toHaveLength(1);
    clock.advance(2_000);

    expect(lines).toEqual(['not ready: no CRDs', 'not ready: no CRDs']);
  });

  test('says it in other words only after a while', () => {
    const { clock, lines, state } = bench();
    state.because = 'refused';
    clock.advance(1_000);

    state.because = 'timed out';
    clock.advance(5_000);
    expect(lines).toHaveLength(1);
    clock.advance(30_000);

    expect(lines).toEqual(['not ready: refused', 'not ready: timed out']);
  });

  test('says that it is, once it is', () => {
    const { clock, lines, state } = bench();
    state.because = 'refused';
    clock.advance(1_000);

    state.because = undefined;
    clock.advance(5_000);

    expect(lines).toEqual(['not ready: refused', 'ready']);
  });

  test('that was ready all the time says nothing', () => {
    const { clock, lines } = bench();

    clock.advance(60_000);

    expect(lines).toEqual([]);
  });
});
