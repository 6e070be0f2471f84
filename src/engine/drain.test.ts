import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { drain, type Drainable } from './drain.ts';

/** A fake engine with a number of connections. It closes connections `lagMs` after a request. */
class FakeEngine implements Drainable {
  accepts = true;
  readonly closedAtMs: number[] = [];
  readonly #clock: ManualClock;
  readonly #lagMs: number;
  #closeRequests: { dueMs: number; count: number }[] = [];
  connections: number;

  constructor(clock: ManualClock, connections: number, lagMs = 0) {
    this.#clock = clock;
    this.connections = connections;
    this.#lagMs = lagMs;
    clock.every(1, () => this.#execute());
  }

  stopAccepting(): void {
    this.accepts = false;
  }

  closeOldest(count: number): void {
    this.#closeRequests.push({ dueMs: this.#clock.nowMs() + this.#lagMs, count });
    if (this.#lagMs === 0) this.#execute();
  }

  open(): number {
    return this.connections;
  }

  #execute(): void {
    const due = this.#closeRequests.filter(({ dueMs }) => dueMs <= this.#clock.nowMs());
    this.#closeRequests = this.#closeRequests.filter(({ dueMs }) => dueMs > this.#clock.nowMs());
    for (const { count } of due) {
      for (let closed = 0; closed < count && this.connections > 0; closed++) {
        this.connections--;
        this.closedAtMs.push(this.#clock.nowMs());
      }
    }
  }
}

async function advanceBy(clock: ManualClock, ms: number) {
  for (let step = 0; step < ms / 10; step++) clock.advance(10);
  await Promise.resolve();
}

function startDrain(clock: ManualClock, engines: Drainable[], signal?: AbortSignal) {
  const state = { hasEnded: false };
  const options = { engines, graceMs: 1000, drainMs: 10_000, clock, ...(signal && { signal }) };
  const done = drain(options).then(() => void (state.hasEnded = true));
  return { state, done };
}

test('accepts connections during the grace period, and closes none', async () => {
  const clock = new ManualClock();
  const engine = new FakeEngine(clock, 500);
  startDrain(clock, [engine]);

  await advanceBy(clock, 990);
  const duringGrace = { accepts: engine.accepts, connections: engine.connections };
  await advanceBy(clock, 100);

  expect(duringGrace).toEqual({ accepts: true, connections: 500 });
  expect(engine.accepts).toBeFalse();
});

test.each([0, 40, 200])(
  'closes 500 connections evenly if an engine reacts after %d ms',
  async (lagMs) => {
    const clock = new ManualClock();
    const engine = new FakeEngine(clock, 500, lagMs);
    const { state, done } = startDrain(clock, [engine]);

    await advanceBy(clock, 12_000);
    await done;

    expect(state.hasEnded).toBeTrue();
    expect(engine.closedAtMs).toHaveLength(500);
    for (let second = 1; second <= 10; second++) {
      const from = second * 1000 + lagMs;
      const count = engine.closedAtMs.filter((at) => at >= from && at < from + 1000).length;
      expect(count).toBeWithin(40, 61);
    }
  },
);

test('closes fewer connections if clients close some themselves', async () => {
  const clock = new ManualClock();
  const engine = new FakeEngine(clock, 100);
  startDrain(clock, [engine]);

  await advanceBy(clock, 3000);
  const before = engine.connections;
  engine.connections -= 40;
  await advanceBy(clock, 3000);

  expect(before).toBeWithin(75, 85);
  expect(engine.connections).toBeWithin(40, 55);
});

test('ends as soon as no connection is open', async () => {
  const clock = new ManualClock();
  const engines = [new FakeEngine(clock, 0), new FakeEngine(clock, 3)];
  const { state, done } = startDrain(clock, engines);

  await advanceBy(clock, 1500);
  engines[1]!.connections = 0;
  await advanceBy(clock, 100);
  await done;

  expect(state.hasEnded).toBeTrue();
});

test('waits for the grace period even without open connections', async () => {
  const clock = new ManualClock();
  const { state } = startDrain(clock, [new FakeEngine(clock, 0)]);

  await advanceBy(clock, 900);

  expect(state.hasEnded).toBeFalse();
});

test('closes all connections at once on a second signal', async () => {
  const clock = new ManualClock();
  const engine = new FakeEngine(clock, 500);
  const secondSignal = new AbortController();
  const { done } = startDrain(clock, [engine], secondSignal.signal);
  await advanceBy(clock, 500);

  secondSignal.abort();
  await done;

  expect(engine.accepts).toBeFalse();
  expect(engine.connections).toBe(0);
});

test('closes connections that were accepted after closing began', async () => {
  const clock = new ManualClock();
  const engine = new FakeEngine(clock, 10);
  const { done } = startDrain(clock, [engine]);
  await advanceBy(clock, 6000);

  engine.connections += 5; // accepted before the engine stopped accepting
  await advanceBy(clock, 5100);
  await done;

  expect(engine.connections).toBe(0);
});

test('ends two seconds after the drain period even if connections stay open', async () => {
  const clock = new ManualClock();
  const stuck: Drainable = { stopAccepting() {}, closeOldest() {}, open: () => 1 };
  const { state, done } = startDrain(clock, [stuck]);

  await advanceBy(clock, 14_000);
  await done;

  expect(state.hasEnded).toBeTrue();
});

test('spreads the few connections of many engines over the drain period', async () => {
  const clock = new ManualClock();
  const engines = Array.from({ length: 8 }, () => new FakeEngine(clock, 1));

  const { done } = startDrain(clock, engines);
  await advanceBy(clock, 12_000);
  await done;

  const closedMs = engines.flatMap((engine) => engine.closedAtMs).toSorted((a, b) => a - b);
  expect(closedMs).toHaveLength(8);
  const gapsMs = closedMs.slice(1).map((ms, index) => ms - (closedMs[index] ?? 0));
  expect(Math.min(...gapsMs)).toBeGreaterThan(1000);
});
