/**
 * For tests only: a small API server, whatever carries its requests. What Snicket relies on is as in a real one (the
 * contract suite runs against both): versions, watches, pages, selectors, patches, server-side apply, finalizers,
 * preconditions. There are no controllers and no defaults, and no schema but the one of lists. Unlike a real one it can
 * fail on demand.
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
import { readCall, WRITE_VERBS, type ApiCall } from './api-call.ts';
import { ApiCalls, FIRST_NAMESPACES } from './api-calls.ts';
import { sendAnswer, sendFailure, type ApiResponse } from './api-response.ts';
import { Faults, type Fault, type FaultTarget } from './fault.ts';
import { logged, type LoggedRequest } from './logged-request.ts';
import { sendWatch } from './watch-response.ts';

/** Options of a {@link TestCluster}. */
export interface TestClusterOptions {
  /** The kinds that it serves; of two versions of a group the first is preferred. Default: all of RESOURCES. */
  readonly resources?: readonly Resource[] | undefined;
  /** Default 60,000, as in a real one. */
  readonly bookmarkEveryMs?: number | undefined;
  /** How many events a watch can go back. Default 10,000. */
  readonly historyLimit?: number | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** A request, as it came. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  /** Empty if there is none of this name. */
  readonly header: (name: string) => string;
  readonly body: string;
  /** Whether the caller has shown a certificate of the CA. */
  readonly hasCertificate: boolean;
}

/** A cluster with objects, a log of requests, and faults. How it is reached is for its subclasses. */
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
  readonly #watches = new Set<ApiResponse>();
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

  /** As `https://127.0.0.1:12345`. */
  abstract get url(): string;

  /** Breaks all connections. */
  abstract resetConnections(): void;

  /** Takes connections, at the address that it had before. */
  abstract comeUp(): Promise<void>;

  /** Breaks all connections and refuses new ones; all objects stay. */
  abstract goDown(): Promise<void>;

  /** What a client needs to be let in. */
  get access(): ClusterAccess {
    return { server: this.url, ca: this.ca, credentials: this.#credentials, namespace: 'default' };
  }

  /** An authorized client that uses the cluster's clock. */
  client(options: ClientOptions = {}): KubeClient {
    return this.connect(this.access, options);
  }

  /** A client with this access, authorized or not. */
  connect(access: ClusterAccess, options: ClientOptions = {}): KubeClient {
    return createClient(access, { clock: this.clock, ...options });
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

  /** Forgets old versions: a client that watches or lists from one of them must start over. */
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

  /** Deletes what no living object owns any more. Returns how many. */
  collectGarbage(): number {
    return collectGarbage(this.#store, this.#resources, this.clock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goDown();
  }

  /** Answers a request, in time or not at all. @throws what fails in the middle of an answer */
  protected async serve(request: ApiRequest, response: ApiResponse): Promise<void> {
    try {
      const { method, url, header } = request;
      const call = readCall(method, url, header, this.#resources);
      this.#log.push(logged(call));
      this.#authenticate(request);
      const { verb, resource, name = '' } = call;
      const fault = this.#faults.take({ verb, plural: resource?.plural ?? call.path, name });
      await this.#answer(call, request.body, response, fault);
    } catch (error) {
      if (response.headersSent) throw error;
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const bug = new ApiFailure(500, 'InternalError', `a bug of the test server: ${said}`);
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

  async #answer(
    call: ApiCall,
    body: string,
    response: ApiResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    switch (fault?.kind) {
      case 'hang':
        return;
      case 'reset':
        response.reset();
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
    await sendAnswer(response, this.#calls.answer(call, body), fault, this.clock);
  }
}
