/**
 * Connections to one API server, with TLS.
 *
 * Facts of Bun 1.4 that this rests on, each with a test: connections of two sessions are never shared, so neither are
 * identities; `serverName` is both what is asked for and what is verified; $NODE_TLS_REJECT_UNAUTHORIZED=0 would switch
 * verification off, were it not asked for in so many words.
 */
import { X509Certificate } from 'node:crypto';
import { getCACertificates, type PeerCertificate } from 'node:tls';
import { hostOf, type ClusterAccess } from '../access/cluster-access.ts';
import { answerIn, type Answer } from './body.ts';
import { nameFault } from './certificate-name.ts';
import type { Identity } from './credentials.ts';
import { countedRequest } from './open-requests.ts';
import { SocketAnswer } from './socket.ts';
import type { StopBy, RoundTripper, HttpRequest } from './round-tripper.ts';

/**
 * kube-apiserver closes a connection that is idle for 90 seconds; a request must not meet that. Much shorter, since a look
 * at a tenant is over in seconds, and a thousand tenants would have a connection each for nothing.
 */
const KEEP_ALIVE = { idleTimeout: 10, maxIdleSockets: 4 };

/** A server that is reached by the network. */
export class NetworkRoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  #session: { readonly of: Identity; readonly session: Bun.FetchSession } | undefined;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  async fetch(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
    const abort = new AbortController();
    stopBy(() => abort.abort());
    const session = this.#sessionOf(request.identity);
    const response = await countedRequest(async () =>
      session.fetch(request.url, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        signal: abort.signal,
        // To follow would be to carry the credentials to wherever the answer says.
        redirect: 'manual',
        proxy: false,
        timeout: false,
      }),
    );
    return answerIn(response);
  }

  async stream(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
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
    const answer = SocketAnswer.open(target, text);
    stopBy(() => answer.close());
    await answer.opened();
    return answer;
  }

  /** Another certificate is another session: a connection carries the identity of the client that opened it. */
  #sessionOf(identity: Identity): Bun.FetchSession {
    const last = this.#session;
    if (last !== undefined && last.of.cert === identity.cert && last.of.key === identity.key) {
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
    this.#session = { of: identity, session };
    return session;
  }

  /** How this server is known, and how the identity is proved to it. */
  tls({ cert, key }: Identity) {
    const { ca = systemRoots(), server, serverName = hostOf(server) } = this.#access;
    return { ca, cert, key, serverName, rejectUnauthorized: true };
  }
}

let roots: string[] | undefined;

/** Those of the system, as kubectl takes them; where there are none, those that Bun brings along. */
function systemRoots(): string[] | undefined {
  roots ??= getCACertificates('system');
  return roots.length === 0 ? undefined : roots;
}
