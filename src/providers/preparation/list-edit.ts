/**
 * Adding entries to somebody's list, and taking them out again. What he does to his list meanwhile stays.
 */
import { canonicalJson } from '../../kube/apply/canonical-json.ts';
import { missingEntries, type EntryWish } from './preparation.ts';

/** One entry of ours in a list. */
export interface EntryRecord {
  readonly entry: unknown;
  /** What stood in its place; absent: nothing, it was added at the end. */
  readonly was?: unknown;
}

/** A list after an edit, and how to undo it. */
export interface EditedList {
  readonly list: readonly unknown[];
  /** Of those entries that were not there before. */
  readonly records: readonly EntryRecord[];
}

/** The list with all the entries; an entry whose job is done already is not ours. */
export function withEntries(list: readonly unknown[], wishes: readonly EntryWish[]): EditedList {
  let edited = list;
  const records: EntryRecord[] = [];
  for (const { entry, replaces } of missingEntries({ entries: wishes }, list)) {
    if (indexOf(edited, entry) >= 0) continue;
    const index = replaces === undefined ? -1 : edited.findIndex(replaces);
    if (index < 0) {
      edited = [...edited, entry];
      records.push({ entry });
    } else {
      records.push({ entry, was: edited[index] });
      edited = edited.with(index, entry);
    }
  }
  return { list: edited, records };
}

/** The list without those entries, and with what stood in their places. */
export function withoutEntries(
  list: readonly unknown[],
  records: readonly EntryRecord[],
): readonly unknown[] {
  let left = list;
  for (const { entry, was } of records.toReversed()) {
    const index = indexOf(left, entry);
    if (index < 0) continue;
    const isBack = was === undefined || indexOf(left, was) >= 0;
    left = isBack ? left.toSpliced(index, 1) : left.with(index, was);
  }
  return left;
}

/** Whether both have the same entries, each as often, in whatever order. Once through each: lists are as long as users like. */
export function hasSameEntries(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  const missing = new Map<string, number>();
  for (const entry of one) {
    const text = canonicalJson(entry);
    missing.set(text, (missing.get(text) ?? 0) + 1);
  }
  return other.every((entry) => {
    const text = canonicalJson(entry);
    const count = missing.get(text) ?? 0;
    missing.set(text, count - 1);
    return count > 0;
  });
}

function indexOf(list: readonly unknown[], entry: unknown): number {
  return list.findIndex((one) => Bun.deepEquals(one, entry));
}
