/** How often an API was asked for what. */

/** The verbs that change something, in the words of RBAC and of the API server of the tests. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'apply', 'delete']);

/** Requests by verb and kind. */
export type Requests = Readonly<Record<string, number>>;

/** Counts requests. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();

  add(verb: string, plural: string): void {
    const key = `${verb} ${plural}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** All so far. */
  get requests(): Requests {
    return Object.fromEntries(this.#counts);
  }
}

/** Of several servers. */
export function sumOf(counts: readonly Requests[]): Requests {
  const sums: Record<string, number> = {};
  for (const [key, count] of counts.flatMap((one) => Object.entries(one))) {
    sums[key] = (sums[key] ?? 0) + count;
  }
  return sums;
}

/** What came between two counts. */
export function requestsBetween(before: Requests, after: Requests): Requests {
  return Object.fromEntries(
    Object.entries(after)
      .map(([key, count]): [string, number] => [key, count - (before[key] ?? 0)])
      .filter(([, count]) => count > 0),
  );
}

/** How many there were. */
export function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** Those that change something. Whoever leads says so by a Lease again and again: that one is no change. */
export function writesIn(requests: Requests): Requests {
  return Object.fromEntries(
    Object.entries(requests).filter(([key]) => {
      const [verb = '', plural] = key.split(' ');
      return WRITES.has(verb) && plural !== 'leases';
    }),
  );
}
