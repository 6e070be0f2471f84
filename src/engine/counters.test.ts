import { expect, test } from 'bun:test';
import { COLUMN, Counters, DIAL_BOUNDS_MS, GLOBAL } from './counters.ts';
import { REASON } from './reasons.ts';

const layout = { slots: 3, slotReasons: ['rate_limit'], otherReasons: ['name_unknown'] };

test('counts for one slot only', () => {
  const counters = new Counters(layout);

  counters.add(counters.row(1) + COLUMN.bytesUp, 7);
  counters.add(counters.row(1) + COLUMN.bytesUp, 5);
  counters.fail(counters.reason('rate_limit'), counters.row(1));

  expect(counters.slot(1)).toMatchObject({
    bytesUp: 12,
    bytesDown: 0,
    failures: { rate_limit: 1 },
  });
  for (const slot of [0, 2]) {
    expect(counters.slot(slot)).toMatchObject({ bytesUp: 0, failures: {} });
  }
});

test('counts every failure globally, and for a slot only the reasons of slots', () => {
  const counters = new Counters(layout);

  counters.fail(REASON.dial_refused, counters.row(0));
  counters.fail(counters.reason('name_unknown'), counters.row(0));
  counters.fail(counters.reason('name_unknown'), -1);

  expect(counters.failures()).toEqual({ dial_refused: 1, name_unknown: 2 });
  expect(counters.slot(0).failures).toEqual({ dial_refused: 1 });
  expect(counters.slot(1)).toMatchObject({ open: 0, total: 0, failures: {} });
});

test('counts a failure for a slot only', () => {
  const counters = new Counters(layout);

  counters.failSlot(counters.reason('rate_limit'), counters.row(1));
  counters.failSlot(counters.reason('name_unknown'), counters.row(1));

  expect(counters.slot(1).failures).toEqual({ rate_limit: 1 });
  expect(counters.slot(2)).toMatchObject({ open: 0, failures: {} });
  expect(counters.failures()).toEqual({});
});

test('resets one slot only', () => {
  const counters = new Counters(layout);
  for (const slot of [0, 1, 2]) counters.fail(REASON.dial_refused, counters.row(slot));

  counters.resetSlot(1);

  expect([0, 1, 2].map((slot) => counters.slot(slot).failures)).toEqual([
    { dial_refused: 1 },
    {},
    { dial_refused: 1 },
  ]);
});

test('resets the gauges of a dead engine, and keeps the totals', () => {
  const counters = new Counters(layout);
  for (const name of ['accepted', 'open', 'bufferedBytes'] as const) counters.add(GLOBAL[name], 3);
  counters.add(counters.row(1) + COLUMN.open, 2);
  counters.add(counters.row(1) + COLUMN.total, 5);

  counters.resetGauges();

  expect(counters.global('accepted')).toBe(3);
  expect(counters.global('open') + counters.global('bufferedBytes')).toBe(0);
  expect(counters.slot(1)).toMatchObject({ open: 0, total: 5 });
});

test('two instances share the counts in one buffer', () => {
  const written = new Counters(layout);
  const read = new Counters(layout, written.buffer);

  written.add(GLOBAL.open, 2);
  written.add(written.row(2) + COLUMN.total, 9);

  expect(read.global('open')).toBe(2);
  expect(read.slot(2).total).toBe(9);
});

test.each([-1, 3, Number.NaN])('rejects slot %d', (slot) => {
  expect(() => new Counters(layout).row(slot)).toThrow(RangeError);
});

test('throws for an undeclared reason code', () => {
  expect(() => new Counters(layout).reason('nonsense')).toThrow("'nonsense'");
});

test('numbers the codes of the engine first', () => {
  const { reasons } = new Counters(layout);

  expect(reasons[REASON.completed]).toBe('completed');
  expect(reasons[REASON.fault]).toBe('fault');
  expect(reasons.slice(-2)).toEqual(['rate_limit', 'name_unknown']);
});

test('counts dials in a histogram, for all slots together', () => {
  const counters = new Counters(layout);

  for (const elapsedMs of [0.5, 1, 1.1, 5000, 6000])
    counters.recordDial(counters.row(1), elapsedMs);
  counters.recordDial(counters.row(2), 3);

  expect([...counters.dialBuckets()]).toEqual([2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
  expect(counters.dialBuckets()).toHaveLength(DIAL_BOUNDS_MS.length + 1);
  expect(counters.totalDialMs()).toBeCloseTo(11_005.6);
  expect(counters.slot(1)).toMatchObject({ dials: 5 });
  expect(counters.slot(2)).toMatchObject({ dials: 1, dialMs: 3 });
});

test('lists every failure reason, including those with a count of 0', () => {
  const counters = new Counters(layout);
  counters.fail(REASON.dial_refused, -1);

  const failures = counters.allFailures();

  expect(Object.keys(failures)).toEqual(counters.reasons.slice(1));
  expect(failures).toMatchObject({ dial_refused: 1, name_unknown: 0, hello_timeout: 0 });
});
