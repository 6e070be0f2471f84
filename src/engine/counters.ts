/**
 * Counters as plain numbers in shared memory: an engine adds to them, whoever answers a scrape reads them, perhaps in
 * another thread. No lock: each number has one writer, and a Float64 is written whole.
 *
 * Layout: globals, failures by every reason, then a row per slot. A slot is what connections are counted by: a tenant's
 * route. Rows are only backed by memory once written to, so ask for as many slots as there might ever be.
 */
import { ENGINE_REASON_CODES } from './reasons.ts';

const GLOBALS = [
  'accepted',
  'open',
  'unfinishedHellos',
  'dialling',
  /** Dials that timed out and that the engine could not take back yet. */
  'abandonedDials',
  /** Bytes in this process that wait for a slow reader or a slow dial. */
  'keptBytes',
  /** Readiness that an engine nearly missed, found and healed by its sweep. */
  'lostEdges',
] as const;

/** Those that say how it is, not how often it was. */
const GAUGES = [
  'open',
  'unfinishedHellos',
  'dialling',
  'abandonedDials',
  'keptBytes',
] as const satisfies readonly (typeof GLOBALS)[number][];

const COLUMNS = [
  'open',
  'total',
  /** Of the client, as given to the upstream: without preface and without what was dropped. */
  'bytesUp',
  /** Of the upstream, as given to the client. */
  'bytesDown',
  'dials',
  'dialMs',
] as const;

/** Numbers that an engine has once. */
export type GlobalCounter = (typeof GLOBALS)[number];
/** Numbers that every slot has. */
export type SlotCounter = (typeof COLUMNS)[number];

/** What a slot has counted. */
export type SlotCounts = Readonly<Record<SlotCounter, number>> & {
  /** By code, those above zero. A failed dial counts even if the next endpoint answered. */
  readonly failures: Readonly<Record<string, number>>;
};

/** What there is to count; the same on both sides of a thread. */
export interface CountersLayout {
  /** How many slots; a slot is a number below this. */
  readonly slots: number;
  /** The switchboard's reasons that every slot counts. Default: none. */
  readonly slotReasons?: readonly string[];
  /** Its reasons that are counted as a whole only, because no slot is known then. Default: none. */
  readonly otherReasons?: readonly string[];
}

function indexes<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>;
}

/** Where the globals are in {@link Counters.values}. */
export const GLOBAL = indexes(GLOBALS);
/** Where a slot's numbers are, counted from {@link Counters.row}. */
export const COLUMN = indexes(COLUMNS);

/** One number, over all of several engines: their {@link Counters.values}. */
export function sumOver(allValues: readonly Float64Array[], index: number): number {
  let sum = 0;
  for (const values of allValues) sum += values[index] ?? 0;
  return sum;
}

/** The numbers of one engine. */
export class Counters {
  /** Every code there is; its place is its number. The engine's come first. */
  readonly reasons: readonly string[];
  /** Hand this and the layout to another thread. */
  readonly buffer: SharedArrayBuffer;
  readonly values: Float64Array;

  readonly #slots: number;
  readonly #slotReasons: number;
  readonly #rows: number;
  readonly #rowLength: number;

  constructor(layout: CountersLayout, buffer?: SharedArrayBuffer) {
    const slotReasons = [...ENGINE_REASON_CODES, ...(layout.slotReasons ?? [])];
    this.reasons = [...slotReasons, ...(layout.otherReasons ?? [])];
    this.#slots = layout.slots;
    this.#slotReasons = slotReasons.length;
    this.#rows = GLOBALS.length + this.reasons.length;
    this.#rowLength = COLUMNS.length + slotReasons.length;
    const length = this.#rows + this.#slots * this.#rowLength;
    this.buffer = buffer ?? new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT);
    this.values = new Float64Array(this.buffer, 0, length);
  }

  /** The number of a code. @throws RangeError if there is no such code. */
  reason(code: string): number {
    const reason = this.reasons.indexOf(code);
    if (reason < 0) throw new RangeError(`'${code}' is not among the reasons of these counters`);
    return reason;
  }

  /** Where the row of a slot begins. @throws RangeError if there is no such slot. */
  row(slot: number): number {
    if (!(slot >= 0 && slot < this.#slots)) {
      throw new RangeError(`slot ${slot} is not below ${this.#slots}`);
    }
    return this.#rows + slot * this.#rowLength;
  }

  /** Adds to the number at this place. */
  add(index: number, amount: number): void {
    // The place is always one of ours; `?? 0` is for the compiler and costs nothing measurable.
    this.values[index] = (this.values[index] ?? 0) + amount;
  }

  /** Counts a failure, for the slot whose row this is too; `row` below 0 means that none is known. */
  fail(reason: number, row: number): void {
    this.add(GLOBALS.length + reason, 1);
    if (row >= 0) this.failSlot(reason, row);
  }

  /** The slot's half of {@link fail}: for a refusal before any dial, where the switchboard alone knows the slot. */
  failSlot(reason: number, row: number): void {
    if (reason < this.#slotReasons) this.add(row + COLUMNS.length + reason, 1);
  }

  /** One of the globals. */
  global(name: GlobalCounter): number {
    return this.#at(GLOBAL[name]);
  }

  /** All failures by code, those above zero. */
  failures(): Readonly<Record<string, number>> {
    return this.#failures(GLOBALS.length, this.reasons);
  }

  /** What a slot has counted so far. */
  slot(slot: number): SlotCounts {
    const row = this.row(slot);
    const counts = COLUMNS.map((name, column) => [name, this.#at(row + column)]);
    return {
      ...(Object.fromEntries(counts) as Record<SlotCounter, number>),
      failures: this.#failures(row + COLUMNS.length, this.reasons.slice(0, this.#slotReasons)),
    };
  }

  /** Sets a slot's numbers to zero, for the next owner. Nobody may be counting there. */
  wipe(slot: number): void {
    const row = this.row(slot);
    this.values.fill(0, row, row + this.#rowLength);
  }

  /** The engine is dead: nothing of what was open is. What was counted up stays. */
  forgetOpen(): void {
    for (const name of GAUGES) this.values[GLOBAL[name]] = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      const open = this.row(slot) + COLUMN.open;
      // Writing zero to a row that has none would take memory for it.
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
