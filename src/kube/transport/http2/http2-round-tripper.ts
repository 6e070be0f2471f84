/**
 * Sends requests and watches to one API server over one HTTP/2 connection, which kube-apiserver supports. A request
 * takes 0.1 ms of CPU time, with `fetch` 0.6 ms (`bench/kube-requests.ts`). In a process with thousands of servers, a
 * separate connection for each watch would also take another handshake, another file descriptor and 13 KB of memory.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';
import { hostOf, type ClusterAccess } from '../../access/cluster-access.ts';
import type { HttpResponse } from '../body.ts';
import type { Identity } from '../credentials.ts';
import { NetworkRoundTripper } from '../network-round-tripper.ts';
import type { HttpRequest, RoundTripper, StopBy } from '../round-tripper.ts';
import { NotProcessed } from '../connection-error.ts';
import { Http2Connection, type ConnectionPool } from './connection.ts';
import type { Http2Response } from './response.ts';

/** The number of attempts if a server refuses a request. */
const MAX_REFUSALS = 3;
/** The maximum of connections. kube-apiserver allows 100 requests on each. Further requests wait. */
const MAX_CONNECTIONS = 4;
/**
 * How long HTTP/1.1 is used for a server that does not support HTTP/2, or violates it. The address may have several
 * servers.
 */
const HTTP1_MS = 10 * 60_000;
/**
 * The maximum of concurrent handshakes: a second one is started if the first is slow. A dial cannot be canceled, and a
 * process may have thousands of dead servers.
 */
const MAX_HANDSHAKES = 2;

/**
 * Uses one connection to a server. Opens another one if the server accepts no more requests on the first, or does not
 * respond on it. A server that does not support HTTP/2 is reached over several connections.
 */
export class Http2RoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #http1: NetworkRoundTripper;
  #connections: readonly PooledConnection[] = [];
  /** Callbacks that wake the requests waiting for a connection. */
  readonly #waiting = new Set<() => void>();
  readonly #pool: ConnectionPool = {
    changed: () => {
      const woken = [...this.#waiting];
      this.#waiting.clear();
      for (const wake of woken) wake();
    },
    speaksHttp1: () => {
      this.#http1UntilMs = this.#clock.nowMs() + HTTP1_MS;
    },
  };
  #http1UntilMs: number;

  constructor(access: ClusterAccess, clock: Clock = systemClock) {
    this.#access = access;
    this.#clock = clock;
    this.#http1 = new NetworkRoundTripper(access);
    this.#http1UntilMs = access.server.startsWith('https:') ? 0 : Infinity;
  }

  async fetch(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse> {
    return (await this.#request(request, stopBy)) ?? this.#http1.fetch(request, stopBy);
  }

  async stream(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse> {
    return (await this.#request(request, stopBy)) ?? this.#http1.stream(request, stopBy);
  }

  /** Returns the response, or undefined if the server does not support HTTP/2. */
  async #request(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse | undefined> {
    let refusals = 0;
    let awaited: readonly Http2Connection[] = [];
    let failure: Error | undefined;
    while (this.#clock.nowMs() >= this.#http1UntilMs) {
      const connections = this.#connectionsOf(request.identity);
      const usable = connections.find(({ isUsable }) => isUsable);
      try {
        if (usable !== undefined) {
          awaited = [];
          failure = undefined;
          request.assertMaySend?.();
          const response = usable.request(request);
          stopBy(closing(response));
          await response.opened();
          return response;
        }
        failure ??= awaited.find((connection) => connection.failure !== undefined)?.failure;
        // Another connection may still serve the request: one that is ready, or whose handshake is slow.
        const mayStillServe = connections.some(
          (candidate) => candidate.isReady || awaited.includes(candidate),
        );
        if (failure !== undefined && !mayStillServe) throw failure;
        const [exhausted] = connections;
        if (
          exhausted !== undefined &&
          connections.every(({ allowsNoRequests }) => allowsNoRequests)
        ) {
          exhausted.retire();
          throw new NotProcessed('the server accepts no requests');
        }
        const isOpened = failure === undefined && this.#isAnotherNeeded(connections);
        const all = isOpened ? [...connections, this.#open(request.identity)] : connections;
        const handshakes = all.filter(({ isReady }) => !isReady);
        awaited =
          failure === undefined
            ? handshakes
            : handshakes.filter((handshake) => awaited.includes(handshake));
        await this.#change(awaited, stopBy);
      } catch (error) {
        if (!(error instanceof NotProcessed) || ++refusals === MAX_REFUSALS) throw error;
        awaited = [];
        failure = undefined;
      }
    }
    return undefined;
  }

  #isAnotherNeeded(connections: readonly Http2Connection[]): boolean {
    const handshakes = connections.filter(({ isReady }) => !isReady).length;
    const isPromising = connections.some((connection) => connection.isPromising);
    return !isPromising && handshakes < MAX_HANDSHAKES && connections.length < MAX_CONNECTIONS;
  }

  /**
   * Returns the connections with this certificate. A connection has the identity of the client certificate that opened
   * it.
   */
  #connectionsOf({ cert, key }: Identity): readonly Http2Connection[] {
    const isOwn = ({ identity }: PooledConnection) =>
      identity.cert === cert && identity.key === key;
    // A connection without requests yet is kept: requests with another certificate may wait for it.
    const isRetained = (pooled: PooledConnection) =>
      !pooled.connection.isOver && (isOwn(pooled) || pooled.connection.isUnused);
    for (const pooled of this.#connections) if (!isRetained(pooled)) pooled.connection.retire();
    this.#connections = this.#connections.filter(isRetained);
    return this.#connections.filter(isOwn).map(({ connection }) => connection);
  }

  /** Opens a connection. @throws Error with the code of the system, if it fails immediately */
  #open(identity: Identity): Http2Connection {
    const url = new URL(this.#access.server);
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || 443,
      tls: this.#http1.tls(identity),
    };
    const connection = Http2Connection.open(target, this.#clock, this.#pool);
    if (connection.failure !== undefined) throw connection.failure;
    this.#connections = [...this.#connections, { identity, connection }];
    return connection;
  }

  /**
   * Waits until a connection can accept a request, or will accept no more requests. @throws Error if the request is
   * stopped
   */
  async #change(handshakes: readonly Http2Connection[], stopBy: StopBy): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isWaiting = true;
    let isStopped = false;
    const wake = () => {
      isWaiting = false;
      resolve();
    };
    this.#waiting.add(wake);
    stopBy(() => {
      isStopped = true;
      if (!isWaiting) return;
      this.#waiting.delete(wake);
      wake();
      for (const connection of handshakes) connection.suspect();
    });
    await promise;
    if (isStopped) throw new Error('closed here');
  }
}

/**
 * Returns a function that closes the response. A closure in the loop of requests would retain the request and all
 * connections for as long as a watch is open: 1 KB for each.
 */
function closing(response: Http2Response): () => void {
  return () => response.close();
}

/** A connection with its identity. */
interface PooledConnection {
  readonly identity: Identity;
  readonly connection: Http2Connection;
}
