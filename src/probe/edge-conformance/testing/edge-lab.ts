/**
 * For tests only: two tenants, an edge in front of them, and all checks of it.
 */
import { expect } from 'bun:test';
import { GatewayLab } from '../../../gateway/testing/lab.ts';
import { ApiServer, type ApiServerOptions } from '../../../proxy/testing/api-server.ts';
import { dialTcp } from '../../dial.ts';
import { underShortLimit } from '../../testing/short-limit.ts';
import { parseAuthorities } from '../../tls/authorities.ts';
import { checkEdge, type EdgeCheckOptions } from '../check-edge.ts';
import type { CheckResult } from '../check-result.ts';
import { edgeText, findHttpHost, observeHosts, type Checkup } from '../checkup.ts';
import { MisbehavingEdge, type EdgeFaults } from './misbehaving-edge.ts';
import { HttpBackend } from './http-backend.ts';

/** The hosts of the two tenants. */
export const HOST_A = 'a.k8s.test';
export const HOST_B = 'b.k8s.test';

/** Far more than a check needs if nothing is delayed. */
const GENEROUS_TIMEOUT_MS = 30_000;

/** Options of {@link EdgeLab.checkup}. */
export interface CheckupOptions {
  /** Default: the CAs of both tenants. Empty: the CAs are unknown. */
  readonly ca?: string;
  /** Default: both. */
  readonly hosts?: readonly [string, ...string[]];
  /** Whether the servers speak HTTP/1.1. Default: yes. */
  readonly isHttp?: boolean;
}

/** Two tenants. */
export class EdgeLab implements AsyncDisposable {
  readonly a: HttpBackend;
  readonly b: HttpBackend;
  readonly #stack = new AsyncDisposableStack();

  private constructor(a: HttpBackend, b: HttpBackend) {
    this.a = this.use(a);
    this.b = this.use(b);
  }

  static async create(): Promise<EdgeLab> {
    return new EdgeLab(await HttpBackend.start(HOST_A), await HttpBackend.start(HOST_B));
  }

  /** Disposed at the end of the test. */
  use<T extends Disposable | AsyncDisposable>(resource: T): T {
    return this.#stack.use(resource);
  }

  /** Starts Snicket's gateway. */
  async gateway(): Promise<GatewayLab> {
    const routes = [this.a, this.b].map(({ host, endpoint }) => ({ host, endpoints: [endpoint] }));
    return this.use(await GatewayLab.start({ routes }));
  }

  async misbehavingEdge(faults: EdgeFaults = {}): Promise<MisbehavingEdge> {
    const routes = new Map([this.a, this.b].map(({ host, port }) => [host, port]));
    return this.use(await MisbehavingEdge.start(routes, faults));
  }

  /** The CAs of both tenants, as PEM. */
  get authorities(): string {
    return `${this.a.authority.cert}${this.b.authority.cert}`;
  }

  /** Starts an edge with these faults in front of one server, which handles its connections with `onConnection`. */
  async edgeInFrontOf(
    onConnection: ApiServerOptions['onConnection'],
    faults: EdgeFaults = {},
    protocols?: readonly string[],
  ): Promise<MisbehavingEdge> {
    const server = this.use(
      await ApiServer.start({
        serving: this.a.serving,
        ...(protocols !== undefined && { protocols }),
        ...(onConnection !== undefined && { onConnection }),
      }),
    );
    return this.use(await MisbehavingEdge.start(new Map([[HOST_A, server.port]]), faults));
  }

  /** Returns the input of a single check of the edge at a port of this machine. @throws if the edge serves no host */
  async checkup(port: number, options: CheckupOptions = {}): Promise<Checkup> {
    const { ca = this.authorities, hosts = [HOST_A, HOST_B], isHttp = true } = options;
    const edge = { address: '127.0.0.1', port, dial: dialTcp };
    const limits = { timeoutMs: GENEROUS_TIMEOUT_MS };
    const { handshakes, recognition, served } = await observeHosts(
      edge,
      hosts,
      ca === '' ? [] : parseAuthorities(ca),
      limits,
    );
    if (served === undefined) throw new Error(`none of ${hosts.join(', ')} is served`);
    const httpHost = isHttp ? await findHttpHost(edge, served, limits) : undefined;
    const at = edgeText(edge);
    return { edge, at, limits, recognition, handshakes, served, httpHost, idleMs: 50 };
  }

  /** Runs all checks at a port of this machine. Without `ca`, the CAs of the tenants are unknown. */
  async check(
    port: number,
    options: Partial<EdgeCheckOptions> & {
      readonly ca?: string;
      readonly hosts?: readonly [string, ...string[]];
    } = {},
  ): Promise<readonly CheckResult[]> {
    const { ca, hosts = [HOST_A, HOST_B], ...rest } = options;
    return checkEdge(
      {
        address: '127.0.0.1',
        port,
        hosts,
        authorities: ca === undefined ? [] : parseAuthorities(ca),
      },
      { timeoutMs: GENEROUS_TIMEOUT_MS, idleMs: 50, ...rest },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Returns the codes of failures and warnings, in the order of the report. */
export function problemCodes(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ state, code }) => (state === 'Fail' || state === 'Warn' ? [code] : []));
}

/** Runs a check with increasing timeouts until its result has these fields. */
export async function expectResult(
  fields: Partial<CheckResult>,
  check: (timeoutMs: number) => Promise<CheckResult>,
): Promise<CheckResult> {
  const isExpected = (result: CheckResult) => Bun.deepEquals({ ...result, ...fields }, result);
  const result = await underShortLimit(check, isExpected);
  expect(result).toMatchObject(fields);
  return result;
}
