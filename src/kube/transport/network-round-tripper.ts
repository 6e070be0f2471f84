/**
 * TLS connections to one API server, over HTTP/1.1.
 *
 * Relies on these properties of Bun 1.4, each with a test: two sessions never share connections, and so never
 * identities; `serverName` is both sent and verified; $NODE_TLS_REJECT_UNAUTHORIZED=0 disables verification unless
 * `rejectUnauthorized` is set explicitly.
 */
import { X509Certificate } from 'node:crypto';
import { getCACertificates, type PeerCertificate } from 'node:tls';
import { hostOf, type ClusterAccess } from '../access/cluster-access.ts';
import { responseFrom, type HttpResponse } from './body.ts';
import { nameFault } from './certificate-name.ts';
import type { Identity } from './credentials.ts';
import { countedRequest } from './open-requests.ts';
import { SocketResponse } from './socket.ts';
import type { StopBy, RoundTripper, HttpRequest } from './round-tripper.ts';

/**
 * kube-apiserver closes connections that are idle for 90 seconds. A request must not be sent on such a connection. The
 * timeout is much shorter, because a reconcile takes seconds, and a thousand tenants would each keep an idle
 * connection.
 */
const KEEP_ALIVE = { idleTimeout: 10, maxIdleSockets: 4 };

/** Sends requests over the network. */
export class NetworkRoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  #session: { readonly identity: Identity; readonly session: Bun.FetchSession } | undefined;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  async fetch(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse> {
    const abort = new AbortController();
    stopBy(() => abort.abort());
    const session = this.#sessionOf(request.identity);
    request.assertMaySend?.();
    const response = await countedRequest(async () =>
      session.fetch(request.url, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        signal: abort.signal,
        // A redirect would send the credentials to a host chosen by the response.
        redirect: 'manual',
        proxy: false,
        timeout: false,
      }),
    );
    return responseFrom(response);
  }

  async stream(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse> {
    const url = new URL(request.url);
    const isSecure = url.protocol === 'https:';
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || (isSecure ? 443 : 80),
      tls: isSecure ? this.tls(request.identity) : undefined,
    };
    const lines = Object.entries({ host: url.host, ...request.headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const text = `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`;
    request.assertMaySend?.();
    const response = SocketResponse.open(target, text);
    stopBy(() => response.close());
    await response.opened();
    return response;
  }

  /** Returns the session for a certificate. A connection has the identity of the client certificate that opened it. */
  #sessionOf(identity: Identity): Bun.FetchSession {
    const last = this.#session;
    if (
      last !== undefined &&
      last.identity.cert === identity.cert &&
      last.identity.key === identity.key
    ) {
      return last.session;
    }
    last?.session.close();
    const tls = this.tls(identity);
    const checkServerIdentity = (_: string, { raw }: PeerCertificate) =>
      nameFault(new X509Certificate(raw), tls.serverName);
    const session = new Bun.FetchSession({
      tls: { ...tls, checkServerIdentity },
      keepAlive: KEEP_ALIVE,
    });
    this.#session = { identity, session };
    return session;
  }

  /** Returns the TLS options for verifying this server and for presenting the identity. */
  tls({ cert, key }: Identity) {
    const { ca = systemRoots(), server, serverName = hostOf(server) } = this.#access;
    return { ca, cert, key, serverName, rejectUnauthorized: true };
  }
}

let roots: string[] | undefined;

/**
 * Returns the root certificates of the system, as kubectl uses them. Undefined if there are none, which selects Bun's
 * own.
 */
function systemRoots(): string[] | undefined {
  roots ??= getCACertificates('system');
  return roots.length === 0 ? undefined : roots;
}
