/**
 * For tests only: a small API server with real TLS. What Snicket relies on is as in a real one (the contract suite runs
 * against both): versions, watches, pages, selectors, patches, server-side apply, finalizers, preconditions. There are no
 * controllers and no defaults, and no schema but the one of lists. Unlike a real one it can fail on demand.
 *
 * On node:https and not on Bun.serve, which holds the head of an answer back until there is a body: a watch of a quiet
 * kind would not even open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { TestAuthority, type Pair } from '../../proxy/testing/certificates.ts';
import type { ClusterAccess, Credentials } from '../access/cluster-access.ts';
import type { ObjectKey } from '../object.ts';
import { RESOURCES, resourceOf, type Resource } from '../resource.ts';
import { readCall, WRITE_VERBS, type ApiCall, type Verb } from './api-call.ts';
import { ApiCalls, FIRST_NAMESPACES } from './api-calls.ts';
import { ApiFailure } from '../store/api-failure.ts';
import { sendAnswer, sendFailure } from './api-response.ts';
import { sendWatch } from './watch-response.ts';
import { Faults, type Fault, type FaultTarget } from './fault.ts';
import { collectGarbage } from '../store/garbage.ts';
import { ObjectStore, type ApiObject } from '../store/object-store.ts';
import { ObjectWrites } from '../store/object-writes.ts';

/** Options of {@link TestApiServer.start}. */
export interface ApiServerOptions {
  /** The kinds that it serves; of two versions of a group the first is preferred. Default: all of RESOURCES. */
  readonly resources?: readonly Resource[];
  /** How callers say who they are. Default `token`. */
  readonly credentials?: 'token' | 'certificate';
  /** Default 50: a test has no minute to wait. */
  readonly bookmarkEveryMs?: number;
  /** How many events a watch can go back. Default 10,000. */
  readonly historyLimit?: number;
  /** Names in its certificate besides those of the machine. Default: none. */
  readonly names?: readonly string[];
  /** What it serves with, and the CA behind that (PEM). Default: a certificate by a CA of its own. */
  readonly serving?: Pair & { readonly ca: string };
}

/** A request that has been answered, or refused, or broken off. */
export interface LoggedRequest {
  readonly verb: Verb;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly manager: string | null;
  readonly dryRun: boolean;
}

/** A server that runs. `await using server = await TestApiServer.start()` ends it with the scope. */
export class TestApiServer {
  /** PEM. */
  readonly ca: string;
  readonly #server: Server;
  readonly #credentials: Credentials;
  readonly #resources: readonly Resource[];
  readonly #store: ObjectStore;
  readonly #writes: ObjectWrites;
  readonly #calls: ApiCalls;
  readonly #faults = new Faults();
  readonly #log: LoggedRequest[] = [];
  readonly #watches = new Set<ServerResponse>();
  readonly #bookmarkEveryMs: number;
  #port = 0;

  private constructor(ca: string, pair: Pair, credentials: Credentials, options: ApiServerOptions) {
    this.ca = ca;
    this.#credentials = credentials;
    this.#resources = options.resources ?? Object.values(RESOURCES);
    this.#bookmarkEveryMs = options.bookmarkEveryMs ?? 50;
    this.#store = new ObjectStore({ historyLimit: options.historyLimit ?? 10_000 });
    this.#writes = new ObjectWrites(this.#store);
    this.#calls = new ApiCalls(this.#store, this.#resources);
    this.seed(...FIRST_NAMESPACES);
    const tls = {
      cert: pair.cert,
      key: pair.key,
      ca,
      requestCert: true,
      rejectUnauthorized: false,
    };
    this.#server = createServer(tls, (request, response) => {
      // Only the connection can fail here: who asked has left.
      this.#serve(request, response).catch(() => response.destroy());
    });
    // As in a real one, an idle connection stays: else a request may meet its end.
    this.#server.keepAliveTimeout = 0;
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

  /** As `https://127.0.0.1:12345`. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** What a client needs to be let in. */
  get access(): ClusterAccess {
    return { server: this.url, ca: this.ca, credentials: this.#credentials, namespace: 'default' };
  }

  /** Puts objects there, past the log, as the manager `seed`. */
  seed(...objects: readonly ApiObject[]): readonly ApiObject[] {
    return objects.map((object) => {
      const { name, namespace } = object.metadata;
      const resource =
        this.#resources.find(
          ({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind,
        ) ?? resourceOf(object);
      const call = { subresource: undefined, manager: 'seed', dryRun: false };
      return this.#writes.create({ ...call, resource, key: { name, namespace } }, object);
    });
  }

  /** An object as it is now, past the log. */
  read(resource: Resource, key: ObjectKey): ApiObject | undefined {
    return this.#store.get(resource, key);
  }

  /** All objects as they are now, past the log. */
  readAll(): readonly ApiObject[] {
    return this.#resources.flatMap((resource) => this.#store.list(resource));
  }

  /** Every request so far, in the order of arrival. */
  requests(): readonly LoggedRequest[] {
    return [...this.#log];
  }

  /** Those that ask for a change, whether it came to one or not; dry runs are none. */
  writes(): readonly LoggedRequest[] {
    return this.#log.filter(({ verb, dryRun }) => WRITE_VERBS.has(verb) && !dryRun);
  }

  /** Fails the next requests that match: one, unless `times` says otherwise. */
  inject(fault: Fault, target: FaultTarget = {}, times = 1): void {
    this.#faults.add(fault, target, times);
  }

  /** No more of the faults that were injected. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Forgets old versions: whoever watches or lists on from one must begin again. */
  compact(): void {
    this.#store.compact();
    this.#calls.forgetPages();
  }

  /** How many watches are open. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Ends all watches as a server does that has no more time for them. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  /** Breaks all connections. */
  resetConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Deletes what no living object owns any more. Returns how many. */
  collectGarbage(): number {
    return collectGarbage(this.#store, this.#resources);
  }

  /** Takes connections, on the port that it had before. */
  async comeUp(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#server.off('error', reject);
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections and refuses new ones; all objects stay. */
  async goDown(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    // One that is in the middle of its handshake is not known as a connection yet, and would keep the server open.
    const again = setInterval(() => this.#server.closeAllConnections(), 10);
    this.#server.closeAllConnections();
    await promise;
    clearInterval(again);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goDown();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    response.setHeader('audit-id', crypto.randomUUID());
    try {
      const header = (name: string) => String(request.headers[name] ?? '');
      const url = new URL(request.url ?? '/', this.url);
      const call = readCall(request.method ?? 'GET', url, header, this.#resources);
      this.#log.push(logged(call));
      this.#authenticate(request);
      const { verb, resource, name = '' } = call;
      const fault = this.#faults.take({ verb, plural: resource?.plural ?? call.path, name });
      await this.#answer(call, body, response, fault);
    } catch (error) {
      if (response.headersSent) throw error;
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const bug = new ApiFailure(500, 'InternalError', `a bug of the test server: ${said}`);
      sendFailure(response, error instanceof ApiFailure ? error : bug);
    }
  }

  #authenticate(request: IncomingMessage): void {
    const isKnown =
      this.#credentials.kind === 'token'
        ? request.headers.authorization === `Bearer ${this.#credentials.token}`
        : 'authorized' in request.socket && request.socket.authorized === true;
    if (!isKnown) throw new ApiFailure(401, 'Unauthorized', 'Unauthorized');
  }

  async #answer(
    call: ApiCall,
    body: string,
    response: ServerResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    switch (fault?.kind) {
      case 'hang':
        return;
      case 'reset':
        response.socket?.destroy();
        return;
      case 'answer': {
        const { status, reason, retryAfterSeconds } = fault;
        throw new ApiFailure(status, reason, `injected: ${reason}`, { retryAfterSeconds });
      }
      case undefined:
      case 'slow':
      case 'half-line':
      case 'short-line':
      case 'expired-event':
    }
    if (call.verb === 'watch' && call.resource !== undefined) {
      const watch = { store: this.#store, call, resource: call.resource, fault };
      this.#watches.add(response);
      response.on('close', () => this.#watches.delete(response));
      sendWatch(response, { ...watch, bookmarkEveryMs: this.#bookmarkEveryMs });
      return;
    }
    await sendAnswer(response, this.#calls.answer(call, body), fault);
  }
}

function logged({
  verb,
  resource,
  namespace,
  name,
  subresource,
  query,
  path,
}: ApiCall): LoggedRequest {
  const dryRun = query.get('dryRun') === 'All';
  const manager = query.get('fieldManager');
  return { verb, plural: resource?.plural ?? path, namespace, name, subresource, manager, dryRun };
}
