/**
 * Requests and watches of one API server by one connection, where the server speaks HTTP/2, as kube-apiserver does. A
 * request takes 0.1 ms of processor time, by `fetch` 0.6 ms (`bench/kube-requests.ts`). For a process with thousands of
 * servers, a connection of its own for each watch would also be another handshake, another open file and 13 KB of memory.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';
import { hostOf, type ClusterAccess } from '../../access/cluster-access.ts';
import type { Answer } from '../body.ts';
import type { Identity } from '../credentials.ts';
import { NetworkRoundTripper } from '../network-round-tripper.ts';
import type { HttpRequest, RoundTripper, StopBy } from '../round-tripper.ts';
import { NotProcessed } from '../connection-error.ts';
import { Http2Connection, type ConnectionPool } from './connection.ts';

/** How often a server may refuse one request. */
const MAX_REFUSALS = 3;
/** kube-apiserver takes 100 requests by each. More requests wait. */
const MAX_CONNECTIONS = 4;
/** A server that does not speak HTTP/2, or breaks it, is asked by HTTP/1.1 for so long: it may be one of several. */
const HTTP1_MS = 10 * 60_000;
/** A second one, when the first takes long. A dial cannot be taken back, and a process may have thousands of dead servers. */
const MAX_HANDSHAKES = 2;

/**
 * A server that is reached by one connection. Another one is opened when the server takes no more requests by the first, or
 * does not answer there. A server that does not speak HTTP/2 is reached by several.
 */
export class Http2RoundTripper implements RoundTripper {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #http1: NetworkRoundTripper;
  #connections: readonly PooledConnection[] = [];
  /** Wakes the requests that wait for a connection. */
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

  async fetch(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
    return (await this.#request(request, stopBy)) ?? this.#http1.fetch(request, stopBy);
  }

  async stream(request: HttpRequest, stopBy: StopBy): Promise<Answer> {
    return (await this.#request(request, stopBy)) ?? this.#http1.stream(request, stopBy);
  }

  /** The answer, or undefined if the server does not speak HTTP/2. */
  async #request(request: HttpRequest, stopBy: StopBy): Promise<Answer | undefined> {
    let refusals = 0;
    let waitedFor: readonly Http2Connection[] = [];
    let failure: Error | undefined;
    while (this.#clock.nowMs() >= this.#http1UntilMs) {
      const own = this.#connectionsOf(request.identity);
      const usable = own.find(({ isUsable }) => isUsable);
      try {
        if (usable !== undefined) {
          waitedFor = [];
          failure = undefined;
          const answer = usable.request(request);
          stopBy(() => answer.close());
          await answer.opened();
          return answer;
        }
        failure ??= waitedFor.find((connection) => connection.failure !== undefined)?.failure;
        // Another one may still serve it: one that is ready, or whose handshake takes long.
        const isHopeful = own.some((one) => one.isReady || waitedFor.includes(one));
        if (failure !== undefined && !isHopeful) throw failure;
        const [useless] = own;
        if (useless !== undefined && own.every(({ takesNothing }) => takesNothing)) {
          useless.retire();
          throw new NotProcessed('the server takes no request');
        }
        const isOpened = failure === undefined && this.#isAnotherNeeded(own);
        const all = isOpened ? [...own, this.#open(request.identity)] : own;
        const handshakes = all.filter(({ isReady }) => !isReady);
        waitedFor =
          failure === undefined ? handshakes : handshakes.filter((one) => waitedFor.includes(one));
        await this.#change(waitedFor, stopBy);
      } catch (error) {
        if (!(error instanceof NotProcessed) || ++refusals === MAX_REFUSALS) throw error;
        waitedFor = [];
        failure = undefined;
      }
    }
    return undefined;
  }

  #isAnotherNeeded(own: readonly Http2Connection[]): boolean {
    const handshakes = own.filter(({ isReady }) => !isReady).length;
    const isPromising = own.some((connection) => connection.isPromising);
    return !isPromising && handshakes < MAX_HANDSHAKES && own.length < MAX_CONNECTIONS;
  }

  /** Another certificate is another connection: it carries the identity of the client that opened it. */
  #connectionsOf({ cert, key }: Identity): readonly Http2Connection[] {
    const isOwn = ({ of }: PooledConnection) => of.cert === cert && of.key === key;
    // Requests with another certificate may wait for a connection that has carried none yet.
    const isKept = (one: PooledConnection) =>
      !one.connection.isOver && (isOwn(one) || one.connection.isUnused);
    for (const one of this.#connections) if (!isKept(one)) one.connection.retire();
    this.#connections = this.#connections.filter(isKept);
    return this.#connections.filter(isOwn).map(({ connection }) => connection);
  }

  /** @throws Error with the code of the system, if it fails at once */
  #open(identity: Identity): Http2Connection {
    const url = new URL(this.#access.server);
    const target = {
      host: hostOf(this.#access.server),
      port: Number(url.port) || 443,
      tls: this.#http1.tls(identity),
    };
    const connection = Http2Connection.open(target, this.#clock, this.#pool);
    if (connection.failure !== undefined) throw connection.failure;
    this.#connections = [...this.#connections, { of: identity, connection }];
    return connection;
  }

  /** Resolves when a connection may take a request, or takes none any more. @throws Error if the request is stopped */
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

/** A connection with the identity that it carries. */
interface PooledConnection {
  readonly of: Identity;
  readonly connection: Http2Connection;
}
