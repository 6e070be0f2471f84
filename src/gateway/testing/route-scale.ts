/**
 * For the bench: how a gateway bears many routes. Runs one in this process, and reports; nothing fails by being slow.
 */
import { RouteBook } from '../switchboard/route-book.ts';
import { GatewayLab, until, type RouteWish } from './lab.ts';

/** What {@link measureRouteScale} found, times in milliseconds. */
export interface RouteScale {
  readonly routes: number;
  readonly format: 'json' | 'yaml';
  readonly fileBytes: number;
  /** From the start of the process's gateway until it is ready, threads included. */
  readonly startMs: number;
  /** From the bytes of the file to the routes in force. */
  readonly loadMs: number;
  /** For each change of one route: from the write until every thread has it. */
  readonly changesMs: readonly number[];
  /** One look-up among so many routes, in nanoseconds; and among ten. */
  readonly lookupNs: number;
  readonly lookupOfTenNs: number;
}

/** Options of {@link measureRouteScale}. */
export interface RouteScaleOptions {
  /** Default 10,000. */
  readonly routes?: number;
  /** Default `json`. */
  readonly format?: 'json' | 'yaml';
  /** How many changes to make. Default 20. */
  readonly changes?: number;
  /** Engine threads. Default 2. */
  readonly workers?: number;
}

/** Measures it. */
export async function measureRouteScale(options: RouteScaleOptions = {}): Promise<RouteScale> {
  const { routes: count = 10_000, format = 'json', changes = 20, workers = 2 } = options;
  const routes = manyRoutes(count);
  const text = routesText(routes, format);
  const beganMs = performance.now();
  await using lab = await GatewayLab.start({ routesText: text, workers, http: [] });
  const startMs = performance.now() - beganMs;
  const loadMs = lab.number('routes_load_seconds') * 1000;

  const changesMs: number[] = [];
  for (let change = 0; change < changes; change++) {
    const changed = routes.with(change, { ...routeAt(change), endpoints: ['10.9.9.9:6443'] });
    const next = routesText(changed, format);
    const before = lab.gateway.load.loads;
    const writtenMs = performance.now();
    lab.writeRoutes(next);
    await until(() => lab.gateway.load.loads > before && lab.gateway.crew.isUpToDate, 'the change');
    changesMs.push(performance.now() - writtenMs);
  }
  return {
    routes: count,
    format,
    fileBytes: text.length,
    startMs,
    loadMs,
    changesMs,
    lookupNs: lookupNs(count),
    lookupOfTenNs: lookupNs(10),
  };
}

function routeAt(index: number): Required<RouteWish> {
  return {
    tenant: `tenant-${index}`,
    host: `tenant-${index}.k8s.example.com`,
    kind: 'api',
    endpoints: [`10.0.${index >> 8}.${index & 255}:6443`, `10.1.${index >> 8}.${index & 255}:6443`],
    limits: {},
  };
}

function manyRoutes(count: number): Required<RouteWish>[] {
  return Array.from({ length: count }, (_, index) => routeAt(index));
}

function routesText(routes: readonly Required<RouteWish>[], format: 'json' | 'yaml'): string {
  if (format === 'json') {
    const bare = routes.map(({ tenant, host, kind, endpoints }) => ({
      tenant,
      host,
      kind,
      endpoints,
    }));
    return JSON.stringify({ routes: bare });
  }
  const lines = routes.map(
    ({ tenant, host, kind, endpoints }) =>
      `  - tenant: ${tenant}\n    host: ${host}\n    kind: ${kind}\n    endpoints:\n${endpoints
        .map((endpoint) => `      - ${endpoint}\n`)
        .join('')}`,
  );
  return `routes:\n${lines.join('')}`;
}

/** Names as they come from the wire: new strings each time, in no order. */
function lookupNs(count: number): number {
  const book = new RouteBook({ connections: 0, connectionsPerSecond: 0 });
  book.apply({ set: manyRoutes(count).map((route, slot) => ({ slot, route })), removed: [] });
  const names = Array.from({ length: 4096 }, (_, index) =>
    Buffer.from(routeAt((index * 7919) % count).host),
  );
  const rounds = 50;
  let found = 0;
  const read = (isLookedUp: boolean) => {
    const beganNs = Bun.nanoseconds();
    for (let round = 0; round < rounds; round++) {
      for (const name of names) {
        const text = name.toString('latin1');
        if (!isLookedUp || book.find(text) !== undefined) found++;
      }
    }
    return (Bun.nanoseconds() - beganNs) / (rounds * names.length);
  };
  read(true);
  const withoutNs = read(false);
  const withNs = read(true);
  if (found !== 3 * rounds * names.length) throw new Error('a route was not found');
  return withNs - withoutNs;
}
