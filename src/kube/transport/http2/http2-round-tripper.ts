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

/** How often a server may refuse one request. One that takes no requests at all is asked by HTTP/1.1. */
const MAX_REFUSALS = 3;
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
  #connections: readonly PooledConnection[] = [];
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
    let refusals = 0;
    while (!this.#isHttp1) {
      const connection = this.#connectionOf(request.identity);
      try {
        if (!connection.isReady && !(await this.#handshake(connection, stopBy))) break;
        if (connection.isUsable) {
          const answer = connection.request(request);
          stopBy(() => answer.close());
          await answer.opened();
          return answer;
        }
        // Other requests that waited for the handshake have filled the connection, unless it takes none.
        if (!connection.isOver) continue;
        if (++refusals === MAX_REFUSALS) throw new ProtocolError('the server takes no request');
      } catch (error) {
        if (error instanceof NotProcessed && ++refusals < MAX_REFUSALS) continue;
        if (error instanceof ProtocolError) this.#isHttp1 = true;
        throw error;
      }
    }
    this.#isHttp1 = true;
    return undefined;
  }

  /** Whether the server speaks HTTP/2; ends early if the request is stopped. */
  async #handshake(connection: Http2Connection, stopBy: StopBy): Promise<boolean> {
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    stopBy(() => {
      connection.suspect();
      stopped.reject(new Error('closed here'));
    });
    return Promise.race([connection.speaksHttp2(), stopped.promise]);
  }

  /** Another certificate is another connection: it carries the identity of the client that opened it. */
  #connectionOf(identity: Identity): Http2Connection {
    const isOwn = ({ of }: PooledConnection) =>
      of.cert === identity.cert && of.key === identity.key;
    // Requests with the certificate before wait for a handshake that has begun.
    this.#retire((one) => one.connection.isOver || (one.connection.isReady && !isOwn(one)));
    const own = this.#connections.filter(isOwn);
    const usable = own.find(({ connection }) => connection.isUsable);
    if (usable !== undefined) return usable.connection;
    if (own.length >= MAX_CONNECTIONS) this.#retire(isOwn);
    const url = new URL(this.#access.server);
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || 443,
      tls: this.#http1.tls(identity),
    };
    const connection = Http2Connection.open(target, this.#clock);
    this.#connections = [...this.#connections, { of: identity, connection }];
    return connection;
  }

  #retire(isRetired: (one: PooledConnection) => boolean): void {
    for (const { connection } of this.#connections.filter(isRetired)) connection.retire();
    this.#connections = this.#connections.filter((one) => !isRetired(one));
  }
}

/** A connection with the identity that it carries. */
interface PooledConnection {
  readonly of: Identity;
  readonly connection: Http2Connection;
}
