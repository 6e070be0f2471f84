/**
 * For tests only: a tenant, an edge in front of it, and probes of both.
 */
import { Backend, type Peer } from '../../net/testing/peer.ts';
import { GatewayLab, type PartialRoute } from '../../gateway/testing/lab.ts';
import { ApiServer, type ApiServerOptions } from '../../proxy/testing/api-server.ts';
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';
import type { HopName } from '../codes.ts';
import type { HopResult } from '../hop.ts';
import { probeExposure, type ProbeOptions, type ProbeTarget } from '../probe-exposure.ts';
import { respondWith, neverRespond, VERSION_RESPONSE } from './responses.ts';

/** The tenant's hosts. */
export const API_HOST = 'a.k8s.test';
export const KONNECTIVITY_HOST = 'a.konnectivity.test';

/** A day, for certificate validity. */
export const DAY_MS = 24 * 3600 * 1000;

/** Results by hop. */
export type Hops = Readonly<Record<HopName, HopResult>>;

/** A tenant. */
export class ProbeLab implements AsyncDisposable {
  readonly authority: TestAuthority;
  /** A certificate with the names of both hosts. */
  readonly serving: Pair;
  readonly #stack = new AsyncDisposableStack();

  private constructor(authority: TestAuthority, serving: Pair) {
    this.authority = authority;
    this.serving = serving;
  }

  static async create(): Promise<ProbeLab> {
    const authority = await TestAuthority.create('kubernetes');
    const names = [API_HOST, KONNECTIVITY_HOST];
    return new ProbeLab(authority, await authority.issue({ commonName: 'kube-apiserver', names }));
  }

  /** Disposed at the end of the test. */
  use<T extends Disposable | AsyncDisposable>(resource: T): T {
    return this.#stack.use(resource);
  }

  /** Starts an API server, by default of the tenant. */
  async apiServer(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
    const onConnection = respondWith(VERSION_RESPONSE);
    return this.use(await ApiServer.start({ serving: this.serving, onConnection, ...options }));
  }

  /** Starts a server that supports only HTTP/2, like gRPC servers. */
  async konnectivityServer(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
    return this.apiServer({ protocols: ['h2'], onConnection: neverRespond, ...options });
  }

  /** Starts an edge that handles the first bytes of each client with `answer`. */
  edgeThat(answer: (peer: Peer) => void): Backend {
    return this.use(
      new Backend('127.0.0.1', (peer) => {
        peer.onData = () => answer(peer);
      }),
    );
  }

  /** Starts Snicket's gateway. */
  async gateway(routes: readonly PartialRoute[]): Promise<GatewayLab> {
    return this.use(await GatewayLab.start({ routes }));
  }

  /** Probes the API host at a port of this machine. DNS points there. */
  async probe(target: Partial<ProbeTarget>, options: ProbeOptions = {}): Promise<Hops> {
    const results = await probeExposure(
      {
        apiHost: API_HOST,
        port: 443,
        edgeAddresses: ['127.0.0.1'],
        tenantCa: this.authority.cert,
        ...target,
      },
      { lookup: async () => ['127.0.0.1'], timeoutMs: 30_000, ...options },
    );
    return Object.fromEntries(results.map((result) => [result.name, result])) as Hops;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
