/**
 * Requests and watches of one API server by one connection, where the server speaks HTTP/2, as kube-apiserver does. A
 * request takes 0.1 ms of processor time, by `fetch` 0.6 ms (`bench/kube-requests.ts`). For a process with thousands of servers, a connection of its own
 * for each watch would also be another handshake, another open file and 13 KB of memory.
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
/** Connections that take requests at a time. kube-apiserver takes 100 requests by each. */
const MAX_CONNECTIONS = 4;

/**
 * A server that is reached by one connection. Another one is opened when the server takes no more requests by the first, or
 * does not answer there. A server that does not speak HTTP/2 is reached by several.
 */
export class Http2RoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #http1: NetworkRoundTripper;
  /** All with one identity. */
  #connections: readonly Http2Connection[] = [];
  #identity: Identity = {};
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
    const { cert, key } = this.#identity;
    const isSame = identity.cert === cert && identity.key === key;
    this.#identity = identity;
    this.#retire((connection) => !isSame || connection.isOver);
    const usable = this.#connections.find(({ isUsable }) => isUsable);
    if (usable !== undefined) return usable;
    if (this.#connections.length >= MAX_CONNECTIONS) this.#retire(() => true);
    const url = new URL(this.#access.server);
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || 443,
      tls: this.#http1.tls(identity),
    };
    const connection = Http2Connection.open(target, this.#clock);
    this.#connections = [...this.#connections, connection];
    return connection;
  }

  #retire(isRetired: (connection: Http2Connection) => boolean): void {
    for (const connection of this.#connections.filter(isRetired)) connection.retire();
    this.#connections = this.#connections.filter((connection) => !isRetired(connection));
  }
}
