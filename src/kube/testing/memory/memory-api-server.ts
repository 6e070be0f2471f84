/**
 * For tests only: a {@link TestCluster} in this process. Its clients are real ones, except that requests and responses
 * are passed directly instead of over a connection. The issuer and the name of its certificate are checked; dates and
 * chains are not.
 */
import { X509Certificate } from 'node:crypto';
import { TestAuthority, type Pair } from '../../../net/testing/certificates.ts';
import { hostOf, type ClusterAccess } from '../../access/cluster-access.ts';
import type { KubeClient } from '../../client/client.ts';
import type { ClientOptions } from '../../client/fetch-client.ts';
import type { HttpResponse } from '../../transport/body.ts';
import { nameFault } from '../../transport/certificate-name.ts';
import type { StopBy, RoundTripper, HttpRequest } from '../../transport/round-tripper.ts';
import { MemoryResponse } from './memory-response.ts';
import { TestCluster, type TestClusterOptions } from '../test-cluster.ts';
import { TlsListener } from '../tls-listener.ts';

/** Options of {@link MemoryApiServer.start}. */
export interface MemoryServerOptions extends TestClusterOptions {
  /** The serving certificate, its key and its CA (PEM). Default: a certificate that all such servers share. */
  readonly serving?: Serving;
  /**
   * Whether clients outside of this process, such as a gateway, can also connect with TLS on loopback. Default false.
   */
  readonly hasTls?: boolean | undefined;
}

/** A certificate with its key and its CA. */
export type Serving = Pair & { readonly ca: string };

let nextPort = 10_000;

/** A running server. */
export class MemoryApiServer extends TestCluster {
  readonly #listener: TlsListener | undefined;
  readonly #ownPort = nextPort++;
  readonly #certificate: X509Certificate;
  readonly #connections = new Set<MemoryResponse>();
  /** By CA and name, since each check verifies a signature. */
  readonly #faults = new Map<string, Error | undefined>();
  #isUp = false;

  private constructor(serving: Serving, options: MemoryServerOptions) {
    super(serving.ca, { kind: 'token', token: crypto.randomUUID() }, options);
    this.#certificate = new X509Certificate(serving.cert);
    this.#listener =
      options.hasTls === true
        ? new TlsListener(serving, serving.ca, async (...call) => this.serve(...call))
        : undefined;
  }

  static async start(options: MemoryServerOptions = {}): Promise<MemoryApiServer> {
    const server = new MemoryApiServer(options.serving ?? (await sharedServing()), options);
    await server.comeUp();
    return server;
  }

  /** The server listens on this port only if `hasTls` is set. */
  get port(): number {
    return this.#listener?.port ?? this.#ownPort;
  }

  override get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  override connect(access: ClusterAccess, options: ClientOptions = {}): KubeClient {
    return super.connect(access, { roundTripper: this.roundTripper(access), ...options });
  }

  /** Returns the round tripper to this server for a client with this access. */
  roundTripper(access: ClusterAccess): RoundTripper {
    const send = async (request: HttpRequest, stopBy: StopBy) =>
      this.#receive(access, request, stopBy);
    return { fetch: send, stream: send };
  }

  override resetConnections(): void {
    this.#listener?.resetConnections();
    for (const response of this.#connections) response.reset();
  }

  override async comeUp(): Promise<void> {
    await this.#listener?.open();
    this.#isUp = true;
  }

  override async goDown(): Promise<void> {
    this.#isUp = false;
    this.resetConnections();
    await this.#listener?.close();
  }

  async #receive(
    access: ClusterAccess,
    request: HttpRequest,
    stopBy: StopBy,
  ): Promise<HttpResponse> {
    const fault = this.#isUp ? this.#faultOf(access) : refused();
    if (fault !== undefined) throw fault;
    request.assertMaySend?.();
    const response = new MemoryResponse();
    this.#connections.add(response);
    response.onClose(() => this.#connections.delete(response));
    stopBy(() => response.reset());
    const served = this.serve(
      {
        method: request.method,
        url: new URL(request.url),
        header: (name) => request.headers[name] ?? '',
        body: request.body ?? '',
        hasCertificate: false,
      },
      response,
    );
    served.catch((error: unknown) => response.fail(error));
    return response.opened();
  }

  #faultOf({ ca = '', server, serverName = hostOf(server) }: ClusterAccess): Error | undefined {
    return this.#faults.getOrInsertComputed(
      `${serverName} ${ca}`,
      () => trustFault(this.#certificate, ca) ?? nameFault(this.#certificate, serverName),
    );
  }
}

/** Returns the system's error for a port on which nothing listens. */
export function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the OpenSSL error for a certificate that none of these CAs signed. */
function trustFault(certificate: X509Certificate, ca: string): Error | undefined {
  const authorities = (ca.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
  const isTrusted = authorities.some(
    (issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey),
  );
  if (isTrusted) return undefined;
  const code = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  return Object.assign(new Error('unable to verify the first certificate'), { code });
}

let shared: Promise<Serving> | undefined;

async function sharedServing(): Promise<Serving> {
  shared ??= (async () => {
    const authority = await TestAuthority.create('api-server-ca');
    const names = ['127.0.0.1', 'localhost', 'kubernetes'];
    const { cert, key } = await authority.issue({ names });
    return { cert, key, ca: authority.cert };
  })();
  return shared;
}
