/**
 * Who leaves a small server that is full, so that a flood does not keep the kubelet out.
 */

/** A connection, as far as this matters. */
export interface Visitor {
  /** The address that it came from. */
  readonly source: string;
  readonly sinceMs: number;
  /** Whether its question was read. */
  readonly hasAsked: boolean;
}

/**
 * How long a connection may take to ask before it counts as silent. Bun accepts all that wait before it reads from any,
 * so the question of one that just came may be there, and not seen yet.
 */
export const SILENT_MS = 100;

/**
 * An address with more than this share of all connections is crowded: it makes room before others do, whoever is silent.
 * In a flood even a good probe looks silent, while the process is busy with accepting.
 */
const CROWD = 1 / 4;

/**
 * Who leaves for the next one: one of the most crowded address; if none is, a silent one; and if there is none, one that
 * reads its answer or has hardly had the time to ask. Of several such, a silent one before the others, then one of the
 * address with the most connections, then the oldest.
 */
export function whoLeaves<V extends Visitor>(visitors: readonly V[], nowMs: number): V | undefined {
  const counts = new Map<string, number>();
  for (const { source } of visitors) counts.set(source, (counts.get(source) ?? 0) + 1);
  const countOf = ({ source }: V) => counts.get(source) ?? 0;
  const crowdOf = (visitor: V) => {
    const count = countOf(visitor);
    return count > CROWD * visitors.length ? count : 0;
  };
  const isSilent = ({ hasAsked, sinceMs }: V) => !hasAsked && nowMs - sinceMs >= SILENT_MS;
  const goesBefore = (a: V, b: V) =>
    (crowdOf(a) - crowdOf(b) ||
      Number(isSilent(a)) - Number(isSilent(b)) ||
      countOf(a) - countOf(b) ||
      b.sinceMs - a.sinceMs) > 0;
  let leaving = visitors[0];
  for (const visitor of visitors) {
    if (leaving !== undefined && goesBefore(visitor, leaving)) leaving = visitor;
  }
  return leaving;
}
