/**
 * For tests only: two tenants, whatever stands in for the edge before them, and all checks of it.
 */
import { GatewayLab } from '../../../gateway/testing/lab.ts';
import { parseAuthorities } from '../../tls/authorities.ts';
import { checkEdge, type EdgeCheckOptions } from '../check-edge.ts';
import type { CheckResult } from '../check-result.ts';
import { FaultyEdge, type EdgeFaults } from './faulty-edge.ts';
import { HttpBackend } from './http-backend.ts';

/** The hosts of the two. */
export const HOST_A = 'a.k8s.test';
export const HOST_B = 'b.k8s.test';

/** Both of them. */
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

  /** Put away at the end of the test. */
  use<T extends Disposable | AsyncDisposable>(what: T): T {
    return this.#stack.use(what);
  }

  /** Snicket's own gateway. */
  async gateway(): Promise<GatewayLab> {
    const routes = [this.a, this.b].map(({ host, endpoint }) => ({ host, endpoints: [endpoint] }));
    return this.use(await GatewayLab.start({ routes }));
  }

  async faultyEdge(faults: EdgeFaults = {}): Promise<FaultyEdge> {
    const routes = new Map([this.a, this.b].map(({ host, port }) => [host, port]));
    return this.use(await FaultyEdge.start(routes, faults));
  }

  /** The CAs of both, as PEM. */
  get authorities(): string {
    return `${this.a.authority.cert}${this.b.authority.cert}`;
  }

  /** Makes all checks at a port of this machine; without `ca` nothing is known of the tenants. */
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
        ...{ address: '127.0.0.1', port, hosts },
        authorities: ca === undefined ? [] : parseAuthorities(ca),
      },
      { timeoutMs: 30_000, idleMs: 100, ...rest },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** The codes of what is not well, in the order of the report. */
export function complaints(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ state, code }) => (state === 'Fail' || state === 'Warn' ? [code] : []));
}
