/**
 * Chooses the connection to evict when the small HTTP server is full, so that a flood does not lock out the kubelet.
 */

/** The properties of a connection that decide about eviction. */
export interface EvictionCandidate {
  /** The address of the client. */
  readonly source: string;
  readonly sinceMs: number;
  /** Whether its request was read. */
  readonly hasRequest: boolean;
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
const CROWDED_SHARE = 1 / 4;

/**
 * Returns the connection to evict: first one of the most crowded source, then a silent one, then one that reads its
 * response or is too new to have sent a request. Among equals it prefers a silent connection, then the source with the
 * most connections, then the oldest connection.
 */
export function connectionToEvict<V extends EvictionCandidate>(
  candidates: readonly V[],
  nowMs: number,
): V | undefined {
  const counts = new Map<string, number>();
  for (const { source } of candidates) counts.set(source, (counts.get(source) ?? 0) + 1);
  const countOf = ({ source }: V) => counts.get(source) ?? 0;
  const crowdOf = (candidate: V) => {
    const count = countOf(candidate);
    return count > CROWDED_SHARE * candidates.length ? count : 0;
  };
  const isSilent = ({ hasRequest, sinceMs }: V) => !hasRequest && nowMs - sinceMs >= SILENT_MS;
  const isEvictedBefore = (a: V, b: V) =>
    (crowdOf(a) - crowdOf(b) ||
      Number(isSilent(a)) - Number(isSilent(b)) ||
      countOf(a) - countOf(b) ||
      b.sinceMs - a.sinceMs) > 0;
  let evicted = candidates[0];
  for (const candidate of candidates) {
    if (evicted !== undefined && isEvictedBefore(candidate, evicted)) evicted = candidate;
  }
  return evicted;
}
