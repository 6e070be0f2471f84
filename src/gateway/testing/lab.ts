/** For tests only: a gateway with its threads in this process, on loopback, with its own routes file. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../telemetry/log.ts';
import { Gateway } from '../gateway.ts';
import type { GatewayOptions } from '../options.ts';
import type { Route } from '../routes/route.ts';
import { RoutesFile } from '../routes/routes-file.ts';

/** A route in a test. Omitted fields get defaults. */
export type PartialRoute = Partial<Route> & { readonly host: string };

/** Options of {@link GatewayLab.start}, in addition to a gateway's options. */
export interface LabOptions extends Partial<GatewayOptions> {
  readonly routes?: readonly PartialRoute[];
  /** Content of the routes file, instead of `routes`. */
  readonly routesText?: string;
  /** Default true. */
  readonly hasRoutesFile?: boolean;
  readonly keys?: string;
}

/** Waits until the condition is true. @throws after the deadline, with the description of the condition. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  description: string,
  deadlineMs = 200_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${description}`);
    await Bun.sleep(1);
  }
}

/** A running gateway. */
export class GatewayLab implements AsyncDisposable {
  readonly gateway: Gateway;
  readonly folder: string;
  /** The logged lines, parsed. */
  readonly log: Record<string, unknown>[];

  private constructor(gateway: Gateway, folder: string, log: Record<string, unknown>[]) {
    this.gateway = gateway;
    this.folder = folder;
    this.log = log;
  }

  static async start(options: LabOptions = {}): Promise<GatewayLab> {
    const folder = mkdtempSync(join(tmpdir(), 'snicket-gateway-'));
    const { routes = [], routesText, hasRoutesFile = true, keys, ...rest } = options;
    const text = routesText ?? routesJson(routes);
    if (hasRoutesFile) writeFileSync(join(folder, 'routes.json'), text);
    if (keys !== undefined) writeFileSync(join(folder, 'keys'), keys);
    const log: Record<string, unknown>[] = [];
    const write = (line: string) => log.push(JSON.parse(line) as Record<string, unknown>);
    const gateway = new Gateway(
      {
        openRoutes: (sink) => new RoutesFile({ path: join(folder, 'routes.json') }, sink),
        listen: [{ address: '127.0.0.1', port: 0 }],
        http: [{ address: '127.0.0.1', port: 0 }],
        workers: 1,
        engine: 'auto',
        proxyProtocol: 'none',
        graceMs: 0,
        drainMs: 0,
        maxConnections: 10_000,
        tenantLimits: { connections: 0, connectionsPerSecond: 0 },
        keyFile: keys === undefined ? undefined : join(folder, 'keys'),
        ...rest,
        accessLog: rest.accessLog === undefined ? undefined : join(folder, rest.accessLog),
      },
      createLogger({ level: 'debug', write }),
    );
    await gateway.start();
    return new GatewayLab(gateway, folder, log);
  }

  get port(): number {
    return this.gateway.addresses[0]?.port ?? 0;
  }

  /** Replaces the routes file by a rename and waits until every thread has applied it. */
  async changeRoutes(routes: readonly PartialRoute[]): Promise<void> {
    const before = this.gateway.load.loads;
    this.writeRoutes(routesJson(routes));
    await until(
      () => this.gateway.load.loads > before && this.gateway.threads.isUpToDate,
      'the new routes',
    );
  }

  writeRoutes(text: string): void {
    this.#replace('routes.json', text);
  }

  writeKeys(text: string): void {
    this.#replace('keys', text);
  }

  /** Returns a metric by its name without `snicket_gateway_`, with labels as on the metrics page. */
  number(name: string, labels = ''): number {
    const start = `snicket_gateway_${name}${labels === '' ? '' : `{${labels}}`} `;
    const line = this.gateway.metrics
      .text()
      .split('\n')
      .find((text) => text.startsWith(start));
    return line === undefined ? 0 : Number(line.slice(start.length));
  }

  /** Returns how many connections failed for this reason. */
  failures(reason: string): number {
    return this.number('failures_total', `reason="${reason}"`);
  }

  /** Sends a request to the gateway's HTTP server. */
  async get(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.gateway.httpAddresses[0]?.port}${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.stop();
    rmSync(this.folder, { recursive: true });
  }

  #replace(name: string, text: string): void {
    writeFileSync(join(this.folder, `${name}.new`), text);
    renameSync(join(this.folder, `${name}.new`), join(this.folder, name));
  }
}

/** Returns the text of a routes file. Omitted fields get defaults. */
export function routesJson(routes: readonly PartialRoute[]): string {
  return JSON.stringify({
    routes: routes.map((route) => ({
      tenant: route.host.split('.')[0],
      kind: 'api',
      endpoints: [],
      ...route,
    })),
  });
}
