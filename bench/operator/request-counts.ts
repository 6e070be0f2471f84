/** Counts API requests by verb and resource. */

/** The verbs that change objects, as named by RBAC and the test API server. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'apply', 'delete']);

/** Numbers of requests by verb and resource. */
export type Requests = Readonly<Record<string, number>>;

/** Counts requests. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();

  add(verb: string, plural: string): void {
    const key = `${verb} ${plural}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** All requests so far. */
  get requests(): Requests {
    return Object.fromEntries(this.#counts);
  }
}

/** Sums the requests of several servers. */
export function sumOf(counts: readonly Requests[]): Requests {
  const sums: Record<string, number> = {};
  for (const [key, count] of counts.flatMap((requests) => Object.entries(requests))) {
    sums[key] = (sums[key] ?? 0) + count;
  }
  return sums;
}

/** Returns the requests between two counts. */
export function requestsBetween(before: Requests, after: Requests): Requests {
  return Object.fromEntries(
    Object.entries(after)
      .map(([key, count]): [string, number] => [key, count - (before[key] ?? 0)])
      .filter(([, count]) => count > 0),
  );
}

/** Returns the total number of requests. */
export function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** Returns the requests that change objects, except the regular renewals of Leases. */
export function writesIn(requests: Requests): Requests {
  return Object.fromEntries(
    Object.entries(requests).filter(([key]) => {
      const [verb = '', plural] = key.split(' ');
      return WRITES.has(verb) && plural !== 'leases';
    }),
  );
}
