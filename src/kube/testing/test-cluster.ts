/**
 * For tests only: a small API server, independent of the transport. It behaves like a real one where Snicket relies on
 * it (the contract tests run against both): versions, watches, pages, selectors, patches, server-side apply,
 * finalizers, preconditions. It has no controllers, no defaults, and no schemas except those of lists. Unlike a real
 * one, it can inject faults.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { ClusterAccess, Credentials } from '../access/cluster-access.ts';
import type { KubeClient } from '../client/client.ts';
import { createClient, type ClientOptions } from '../client/fetch-client.ts';
import type { ObjectKey } from '../object.ts';
import { RESOURCES, resourceOf, type Resource } from '../resource.ts';
import { ApiFailure } from '../store/api-failure.ts';
import { collectGarbage } from '../store/garbage.ts';
import { ObjectStore, type ApiObject } from '../store/object-store.ts';
import { ObjectWrites } from '../store/object-writes.ts';
import { parseApiCall, WRITE_VERBS, type ApiCall } from './api-call.ts';
import { ApiCalls, FIRST_NAMESPACES } from './api-calls.ts';
import { sendResponse, sendFailure, type ResponseWriter } from './api-response.ts';
import { Faults, type Fault, type FaultTarget } from './fault.ts';
import { logged, type LoggedRequest } from './logged-request.ts';
import { sendWatch } from './watch-response.ts';

/** Options of a {@link TestCluster}. */
export interface TestClusterOptions {
  /** The kinds that it serves. The first version of a group is preferred. Default: all of RESOURCES. */
  readonly resources?: readonly Resource[] | undefined;
  /** Default 60,000, as in a real server. */
  readonly bookmarkEveryMs?: number | undefined;
  /** The number of past events that a watch can start from. Default 10,000. */
  readonly historyLimit?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** A received request. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  /** Returns a header, or an empty string if it is absent. */
  readonly header: (name: string) => string;
  readonly body: string;
  /** Whether the client presented a certificate of the CA. */
  readonly hasCertificate: boolean;
}

/** A cluster with objects, a request log and faults. Subclasses define the transport. */
export abstract class TestCluster implements AsyncDisposable {
  /** PEM. */
  readonly ca: string;
  protected readonly clock: Clock;
  readonly #credentials: Credentials;
  readonly #resources: readonly Resource[];
  readonly #store: ObjectStore;
  readonly #writes: ObjectWrites;
  readonly #calls: ApiCalls;
  readonly #faults = new Faults();
  readonly #log: LoggedRequest[] = [];
  readonly #watches = new Set<ResponseWriter>();
  readonly #bookmarkEveryMs: number;

  protected constructor(ca: string, credentials: Credentials, options: TestClusterOptions) {
    this.ca = ca;
    this.clock = options.clock ?? systemClock;
    this.#credentials = credentials;
    this.#resources = options.resources ?? Object.values(RESOURCES);
    this.#bookmarkEveryMs = options.bookmarkEveryMs ?? 60_000;
    this.#store = new ObjectStore({ historyLimit: options.historyLimit ?? 10_000 });
    this.#writes = new ObjectWrites(this.#store, this.clock);
    this.#calls = new ApiCalls(this.#store, this.#resources, this.clock);
    this.seed(...FIRST_NAMESPACES);
  }

  /** For example `https://127.0.0.1:12345`. */
  abstract get url(): string;

  /** Resets all connections. */
  abstract resetConnections(): void;

  /** Accepts connections, at the same address as before. */
  abstract comeUp(): Promise<void>;

  /** Resets all connections and refuses new ones. Objects are kept. */
  abstract goDown(): Promise<void>;

  /** The access of an authorized client. */
  get access(): ClusterAccess {
    return { server: this.url, ca: this.ca, credentials: this.#credentials, namespace: 'default' };
  }

  /** Creates an authorized client that uses the cluster's clock. */
  client(options: ClientOptions = {}): KubeClient {
    return this.connect(this.access, options);
  }

  /** Creates a client with this access, authorized or not. */
  connect(access: ClusterAccess, options: ClientOptions = {}): KubeClient {
    return createClient(access, { clock: this.clock, ...options });
  }

  /** Creates objects as the manager `seed`, without logging. */
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

  /** Returns an object, without logging. */
  read(resource: Resource, key: ObjectKey): ApiObject | undefined {
    return this.#store.get(resource, key);
  }

  /** Returns all objects, without logging. */
  readAll(): readonly ApiObject[] {
    return this.#resources.flatMap((resource) => this.#store.list(resource));
  }

  /** Returns all requests so far, in the order of arrival. */
  requests(): readonly LoggedRequest[] {
    return [...this.#log];
  }

  /** Returns the write requests, whether they changed anything or not, without dry runs. */
  writes(): readonly LoggedRequest[] {
    return this.#log.filter(({ verb, dryRun }) => WRITE_VERBS.has(verb) && !dryRun);
  }

  /** Fails the next `times` requests that match. */
  inject(fault: Fault, target: FaultTarget = {}, times = 1): void {
    this.#faults.add(fault, target, times);
  }

  /** Removes all faults. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Drops old versions. A client that watches or lists from one of them must start over. */
  compact(): void {
    this.#store.compact();
    this.#calls.forgetPages();
  }

  /** The number of open watches. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Ends all watches, as a server does after a timeout. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  /** Deletes objects whose owners no longer exist. Returns how many were deleted. */
  collectGarbage(): number {
    return collectGarbage(this.#store, this.#resources, this.clock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goDown();
  }

  /** Handles a request. @throws if it fails in the middle of a response */
  protected async serve(request: ApiRequest, response: ResponseWriter): Promise<void> {
    try {
      const { method, url, header } = request;
      const call = parseApiCall(method, url, header, this.#resources);
      this.#log.push(logged(call));
      this.#authenticate(request);
      const { verb, resource, name = '' } = call;
      const fault = this.#faults.take({ verb, plural: resource?.plural ?? call.path, name });
      await this.#response(call, request.body, response, fault);
    } catch (error) {
      if (response.headersSent) throw error;
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const bug = new ApiFailure(500, 'InternalError', `a bug of the test server: ${text}`);
      sendFailure(response, error instanceof ApiFailure ? error : bug);
    }
  }

  #authenticate({ header, hasCertificate }: ApiRequest): void {
    const isKnown =
      this.#credentials.kind === 'token'
        ? header('authorization') === `Bearer ${this.#credentials.token}`
        : hasCertificate;
    if (!isKnown) throw new ApiFailure(401, 'Unauthorized', 'Unauthorized');
  }

  async #response(
    call: ApiCall,
    body: string,
    response: ResponseWriter,
    fault: Fault | undefined,
  ): Promise<void> {
    switch (fault?.kind) {
      case 'hang':
        return;
      case 'reset':
        response.reset();
        return;
      case 'error': {
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
      this.#watches.add(response);
      response.onClose(() => this.#watches.delete(response));
      sendWatch(response, {
        store: this.#store,
        call,
        resource: call.resource,
        fault,
        bookmarkEveryMs: this.#bookmarkEveryMs,
        clock: this.clock,
      });
      return;
    }
    await sendResponse(response, this.#calls.response(call, body), fault, this.clock);
  }
}
