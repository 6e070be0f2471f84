/**
 * Counters as plain numbers in shared memory. An engine adds to them; the metrics endpoint reads them, perhaps from
 * another thread. There is no lock: each number has a single writer, and a Float64 is written whole.
 *
 * Layout: globals, failures by reason, the histogram of dials, then one row per slot. The gateway uses one slot per
 * tenant route. The kernel backs a row with memory only once it is written, so allocate the maximum number of slots.
 */
import { ENGINE_REASON_CODES } from './reasons.ts';

const GLOBALS = [
  'accepted',
  'open',
  'unfinishedHellos',
  'dialing',
  /** Dials that timed out and still hold a socket, because the engine cannot cancel them. */
  'abandonedDials',
  /** Bytes buffered in this process for slow readers and pending dials. */
  'bufferedBytes',
  /** Readiness events that epoll missed and the periodic sweep recovered. */
  'recoveredEvents',
] as const;

/** The globals that are gauges: current values instead of totals. */
const GAUGES = [
  'open',
  'unfinishedHellos',
  'dialing',
  'abandonedDials',
  'bufferedBytes',
] as const satisfies readonly (typeof GLOBALS)[number][];

const COLUMNS = [
  'open',
  'total',
  /** Bytes of the client sent to the upstream, without the preface and without dropped bytes. */
  'bytesUp',
  /** Bytes of the upstream sent to the client. */
  'bytesDown',
  'dials',
  'dialMs',
] as const;

/** Upper bounds of the buckets of the dial durations, in milliseconds. */
export const DIAL_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
];
/** One more bucket for dials above all bounds. */
const DIAL_BUCKETS = DIAL_BOUNDS_MS.length + 1;

/** The name of a counter that exists once per engine. */
export type GlobalCounter = (typeof GLOBALS)[number];
/** The name of a counter that exists once per slot. */
export type SlotCounter = (typeof COLUMNS)[number];

/** The counts of one slot. */
export type SlotCounts = Readonly<Record<SlotCounter, number>> & {
  /** Failures by reason code, without zeros. A failed dial counts even if the next endpoint answered. */
  readonly failures: Readonly<Record<string, number>>;
};

/** The layout of the counters. All threads that share the memory must use the same one. */
export interface CountersLayout {
  /** The number of slots. A slot is an index below it. */
  readonly slots: number;
  /** Reasons of the router that each slot counts. Default: none. */
  readonly slotReasons?: readonly string[];
  /** Reasons of the router that are counted only globally, because the slot is not known yet. Default: none. */
  readonly otherReasons?: readonly string[];
}

function indexes<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>;
}

/** The index of each global in {@link Counters.values}. */
export const GLOBAL = indexes(GLOBALS);
/** The offset of each column from {@link Counters.row}. */
export const COLUMN = indexes(COLUMNS);

/** Returns the sum of one number over several engines, given the {@link Counters.values} of each. */
export function sumOver(allValues: readonly Float64Array[], index: number): number {
  let sum = 0;
  for (const values of allValues) sum += values[index] ?? 0;
  return sum;
}

/** The counters of one engine. */
export class Counters {
  /** All reason codes. The index of a code is its number. The codes of the engine come first. */
  readonly reasons: readonly string[];
  /** The shared memory, to pass to another thread together with the layout. */
  readonly buffer: SharedArrayBuffer;
  readonly values: Float64Array;

  readonly #slots: number;
  readonly #slotReasons: number;
  /** The index of the first dial bucket. The sum of the durations follows the buckets. */
  readonly #dials: number;
  readonly #rows: number;
  readonly #rowLength: number;

  constructor(layout: CountersLayout, buffer?: SharedArrayBuffer) {
    const slotReasons = [...ENGINE_REASON_CODES, ...(layout.slotReasons ?? [])];
    this.reasons = [...slotReasons, ...(layout.otherReasons ?? [])];
    this.#slots = layout.slots;
    this.#slotReasons = slotReasons.length;
    this.#dials = GLOBALS.length + this.reasons.length;
    this.#rows = this.#dials + DIAL_BUCKETS + 1;
    this.#rowLength = COLUMNS.length + slotReasons.length;
    const length = this.#rows + this.#slots * this.#rowLength;
    this.buffer = buffer ?? new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT);
    this.values = new Float64Array(this.buffer, 0, length);
  }

  /** Returns the number of a reason code. @throws RangeError if there is no such code. */
  reason(code: string): number {
    const reason = this.reasons.indexOf(code);
    if (reason < 0) throw new RangeError(`'${code}' is not among the reasons of these counters`);
    return reason;
  }

  /** Returns the index at which the row of a slot begins. @throws RangeError if there is no such slot. */
  row(slot: number): number {
    if (!(slot >= 0 && slot < this.#slots)) {
      throw new RangeError(`slot ${slot} is not below ${this.#slots}`);
    }
    return this.#rows + slot * this.#rowLength;
  }

  /** Adds to the number at this index. */
  add(index: number, amount: number): void {
    // The index is always valid. `?? 0` satisfies the compiler and costs nothing measurable.
    this.values[index] = (this.values[index] ?? 0) + amount;
  }

  /** Counts a finished dial, for the slot of `row` and in the histogram. */
  recordDial(row: number, elapsedMs: number): void {
    this.add(row + COLUMN.dials, 1);
    this.add(row + COLUMN.dialMs, elapsedMs);
    let bucket = 0;
    while (elapsedMs > (DIAL_BOUNDS_MS[bucket] ?? Infinity)) bucket++;
    this.add(this.#dials + bucket, 1);
    this.add(this.#dials + DIAL_BUCKETS, elapsedMs);
  }

  /** Counts a failure globally, and for the slot of `row`. A `row` below 0 means that the slot is unknown. */
  fail(reason: number, row: number): void {
    this.add(GLOBALS.length + reason, 1);
    if (row >= 0) this.failSlot(reason, row);
  }

  /**
   * Counts a failure for a slot only. The router calls it when it refuses a connection before any dial: the engine
   * counts that failure globally, but does not know the slot.
   */
  failSlot(reason: number, row: number): void {
    if (reason < this.#slotReasons) this.add(row + COLUMNS.length + reason, 1);
  }

  /** Returns the value of a global. */
  global(name: GlobalCounter): number {
    return this.#at(GLOBAL[name]);
  }

  /** Returns the number of dials by bucket of {@link DIAL_BOUNDS_MS}. The last bucket is above all bounds. */
  dialBuckets(): Float64Array {
    return this.values.subarray(this.#dials, this.#dials + DIAL_BUCKETS);
  }

  /** Returns the total duration of all dials. */
  totalDialMs(): number {
    return this.#at(this.#dials + DIAL_BUCKETS);
  }

  /** Returns all failures by reason code, without zeros. */
  failures(): Readonly<Record<string, number>> {
    return this.#failures(GLOBALS.length, this.reasons);
  }

  /** Returns all failures by reason code, with zeros and without `completed`, which is not a failure. */
  allFailures(): Readonly<Record<string, number>> {
    const codes = this.reasons.slice(1);
    return Object.fromEntries(
      codes.map((code, index) => [code, this.#at(GLOBALS.length + 1 + index)]),
    );
  }

  /** Returns the counts of a slot. */
  slot(slot: number): SlotCounts {
    const row = this.row(slot);
    const counts = COLUMNS.map((name, column) => [name, this.#at(row + column)]);
    return {
      ...(Object.fromEntries(counts) as Record<SlotCounter, number>),
      failures: this.#failures(row + COLUMNS.length, this.reasons.slice(0, this.#slotReasons)),
    };
  }

  /** Sets the numbers of a slot to zero for its next owner. No engine may be counting there. */
  resetSlot(slot: number): void {
    const row = this.row(slot);
    this.values.fill(0, row, row + this.#rowLength);
  }

  /** Resets the gauges after the engine has died. Totals stay. */
  resetGauges(): void {
    for (const name of GAUGES) this.values[GLOBAL[name]] = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      const open = this.row(slot) + COLUMN.open;
      // Writing to an untouched row would allocate memory for it.
      if (this.values[open] !== 0) this.values[open] = 0;
    }
  }

  #at(index: number): number {
    return this.values[index] ?? 0;
  }

  #failures(start: number, codes: readonly string[]): Record<string, number> {
    const counts = codes.map((code, reason): [string, number] => [code, this.#at(start + reason)]);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
}
