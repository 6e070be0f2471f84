/**
 * Requests and watches of one API server by one connection, where the server speaks HTTP/2, as kube-apiserver does. For a
 * process with thousands of servers: a connection of its own for each watch would be another handshake, another
 * open file and 13 KB of memory.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';
import { hostOf, type ClusterAccess } from '../../access/cluster-access.ts';
import type { Answer } from '../body.ts';
import type { Identity } from '../credentials.ts';
import { NetworkRoundTripper } from '../network-round-tripper.ts';
import type { HttpRequest, RoundTripper, StopBy } from '../round-tripper.ts';
import { Http2Connection, NotProcessed } from './connection.ts';
import { ProtocolError } from './frames.ts';

/** New connections for one request. A server that allows no stream on any of them is asked by HTTP/1.1. */
const MAX_ATTEMPTS = 3;

/** A server that is reached by one connection, or by several if it does not speak HTTP/2. */
export class Http2RoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #http1: NetworkRoundTripper;
  #connection: { readonly of: Identity; readonly connection: Http2Connection } | undefined;
  /** Known after the first handshake. */
  #isHttp1 = false;

  constructor(access: ClusterAccess, clock: Clock = systemClock) {
    this.#access = access;
    this.#clock = clock;
    this.#http1 = new NetworkRoundTripper(access);
    this.#isHttp1 = !access.server.startsWith('https:');
  }

  async fetch(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
    return (await this.#request(request, stopBy)) ?? this.#http1.fetch(request, stopBy);
  }

  async stream(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
    return (await this.#request(request, stopBy)) ?? this.#http1.stream(request, stopBy);
  }

  /** The answer, or undefined if the server does not speak HTTP/2. */
  async #request(request: HttpRequest, stopBy: StopBy): Promise<Answer | undefined> {
    if (this.#isHttp1) return undefined;
    let connection = this.#connectionOf(request.identity);
    for (let attempt = 1; ; attempt++) {
      if (!connection.isReady && !(await this.#handshake(connection, stopBy))) break;
      if (connection.isUsable) {
        const answer = connection.request(request);
        stopBy(() => answer.close());
        try {
          await answer.opened();
          return answer;
        } catch (error) {
          if (!(error instanceof NotProcessed) || attempt >= MAX_ATTEMPTS) this.#failed(error);
        }
      }
      if (attempt >= MAX_ATTEMPTS) this.#failed(new ProtocolError('the server takes no request'));
      // Requests that waited for the same handshake have used it up.
      connection = this.#connectionOf(request.identity);
    }
    this.#isHttp1 = true;
    return undefined;
  }

  /** Whether the server speaks HTTP/2; ends early if the request is stopped. */
  async #handshake(connection: Http2Connection, stopBy: StopBy): Promise<boolean> {
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    stopBy(() => stopped.reject(new Error('closed here')));
    return Promise.race([connection.speaksHttp2(), stopped.promise]);
  }

  /** A server that breaks the protocol is asked by HTTP/1.1 from now on. */
  #failed(error: unknown): never {
    if (error instanceof ProtocolError) this.#isHttp1 = true;
    throw error;
  }

  /** Another certificate is another connection: it carries the identity of the client that opened it. */
  #connectionOf(identity: Identity): Http2Connection {
    const last = this.#connection;
    const isSame = last?.of.cert === identity.cert && last?.of.key === identity.key;
    if (last !== undefined && isSame && last.connection.isUsable) return last.connection;
    last?.connection.retire();
    const url = new URL(this.#access.server);
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || 443,
      tls: this.#http1.tls(identity),
    };
    const connection = Http2Connection.open(target, this.#clock);
    this.#connection = { of: identity, connection };
    return connection;
  }
}
