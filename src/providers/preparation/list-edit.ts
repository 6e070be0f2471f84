/**
 * Adds entries to a user's list and removes them again. Other changes to the list stay.
 */
import { canonicalJson } from '../../kube/apply/canonical-json.ts';
import { missingEntries, type DesiredEntry } from './preparation.ts';

/** An entry that Snicket has added to a list. */
interface EntryRecord {
  readonly entry: unknown;
  /** The entry that it replaced; absent if it was appended. */
  readonly was?: unknown;
}

/** A list after an edit, and the records to undo it. */
interface EditedList {
  readonly list: readonly unknown[];
  /** The entries that were not in the list before. */
  readonly records: readonly EntryRecord[];
}

/** Returns the list with all desired entries. An entry is not recorded if the list satisfied it before. */
export function withEntries(
  list: readonly unknown[],
  desired: readonly DesiredEntry[],
): EditedList {
  let edited = list;
  const records: EntryRecord[] = [];
  for (const { entry, replaces } of missingEntries({ entries: desired }, list)) {
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

/** Returns the list without the recorded entries, and with the entries that they replaced. */
export function withoutEntries(
  list: readonly unknown[],
  records: readonly EntryRecord[],
): readonly unknown[] {
  let remaining = list;
  for (const { entry, was } of records.toReversed()) {
    const index = indexOf(remaining, entry);
    if (index < 0) continue;
    const isRestored = was === undefined || indexOf(remaining, was) >= 0;
    remaining = isRestored ? remaining.toSpliced(index, 1) : remaining.with(index, was);
  }
  return remaining;
}

/**
 * Reports whether both lists have the same entries the same number of times, in any order. Runs in linear time, since
 * the length of lists is not limited.
 */
export function hasSameEntries(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  const missing = new Map<string, number>();
  for (const entry of a) {
    const text = canonicalJson(entry);
    missing.set(text, (missing.get(text) ?? 0) + 1);
  }
  return b.every((entry) => {
    const text = canonicalJson(entry);
    const count = missing.get(text) ?? 0;
    missing.set(text, count - 1);
    return count > 0;
  });
}

function indexOf(list: readonly unknown[], entry: unknown): number {
  return list.findIndex((item) => Bun.deepEquals(item, entry));
}
