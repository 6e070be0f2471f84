/**
 * For tests only: a {@link TestCluster} behind real TLS on loopback.
 */
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';
import type { Credentials } from '../access/cluster-access.ts';
import { TestCluster, type TestClusterOptions } from './test-cluster.ts';
import { TlsListener } from './tls-listener.ts';

/** Options of {@link TestApiServer.start}. */
export interface ApiServerOptions extends TestClusterOptions {
  /** How clients authenticate. Default `token`. */
  readonly credentials?: 'token' | 'certificate';
  /** Additional names in its certificate. Default: none. */
  readonly names?: readonly string[];
  /** The serving certificate, its key and its CA (PEM). Default: a certificate of a new CA. */
  readonly serving?: Pair & { readonly ca: string };
}

/** Tests cannot wait a minute for a bookmark. */
const BOOKMARK_EVERY_MS = 50;

/** A running server. `await using server = await TestApiServer.start()` stops it at the end of the scope. */
export class TestApiServer extends TestCluster {
  readonly #listener: TlsListener;

  private constructor(ca: string, pair: Pair, credentials: Credentials, options: ApiServerOptions) {
    super(ca, credentials, { bookmarkEveryMs: BOOKMARK_EVERY_MS, ...options });
    this.#listener = new TlsListener(pair, ca, async (...call) => this.serve(...call));
  }

  static async start(options: ApiServerOptions = {}): Promise<TestApiServer> {
    const authority = await TestAuthority.create('api-server-ca');
    const names = ['127.0.0.1', 'localhost', 'kubernetes', ...(options.names ?? [])];
    const pair = options.serving ?? (await authority.issue({ names }));
    const credentials: Credentials =
      options.credentials === 'certificate'
        ? { kind: 'certificate', ...(await authority.issue({ commonName: 'snicket' })) }
        : { kind: 'token', token: crypto.randomUUID() };
    const ca = options.serving?.ca ?? authority.cert;
    const server = new TestApiServer(ca, pair, credentials, options);
    await server.comeUp();
    return server;
  }

  override get url(): string {
    return `https://127.0.0.1:${this.#listener.port}`;
  }

  /** Refuses new connections and keeps the open ones until {@link goDown}. */
  stopAccepting(): void {
    this.#listener.stopAccepting();
  }

  override resetConnections(): void {
    this.#listener.resetConnections();
  }

  override async comeUp(): Promise<void> {
    await this.#listener.open();
  }

  override async goDown(): Promise<void> {
    await this.#listener.close();
  }
}
