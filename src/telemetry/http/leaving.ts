/**
 * Chooses the connection to evict when the small HTTP server is full, so that a flood does not lock out the kubelet.
 */

/** The properties of a connection that decide about eviction. */
export interface Visitor {
  /** The address of the client. */
  readonly source: string;
  readonly sinceMs: number;
  /** Whether its request was read. */
  readonly hasAsked: boolean;
}

/**
 * How long a connection may take to send its request before it counts as silent. Bun accepts all waiting connections
 * before it reads from any, so the request of a new connection may have arrived without being read yet.
 */
export const SILENT_MS = 100;

/**
 * A source with more than this share of all connections is crowded. Its connections are evicted first, silent or not.
 * While the process is busy accepting a flood, even a healthy probe looks silent.
 */
const CROWD = 1 / 4;

/**
 * Returns the connection to evict: first one of the most crowded source, then a silent one, then one that reads its
 * response or is too new to have sent a request. Among equals it prefers a silent connection, then the source with the
 * most connections, then the oldest connection.
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
