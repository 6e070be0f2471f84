/**
 * A client of an {@link ObjectStore} in this process, with the rules of an API server but without a server. The
 * contract tests of clients run against it.
 */
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from '../client/client.ts';
import { collectionPath, kubeletPath, namespaceFor, objectPath } from '../client/path.ts';
import { assertWithin, sizeBytes } from '../informer/bounds.ts';
import { isKubeError, KubeError } from '../kube-error.ts';
import { readObject } from '../object-read.ts';
import type { KubeObject, ObjectKey } from '../object.ts';
import { resourceOf, type Resource } from '../resource.ts';
import { errorOfResponse, type CallName } from '../transport/request-error.ts';
import { ApiFailure, noSuchPath } from './api-failure.ts';
import { hasStatus } from './apply/list-types.ts';
import { EventQueue } from './event-queue.ts';
import type { JsonObject } from './json.ts';
import type { ApiObject, ObjectStore } from './object-store.ts';
import { ObjectWrites, type WriteCall } from './object-writes.ts';
import { jsonPatch, mergePatch } from './patch.ts';
import { fieldSelector, labelSelector, type Selector } from './selector.ts';
import { watchStore, withApiVersion } from './watch.ts';

interface MemoryClientOptions {
  readonly store: ObjectStore;
  /** The kinds that are served. */
  readonly resources: readonly Resource[];
  /** The field manager of writes. Default `snicket`. */
  readonly fieldManager?: string | undefined;
  /** The name of the server in messages. */
  readonly name: string;
}

/** The version of the API server that is emulated. */
const VERSION = 'v1.36.0';

/** Creates a client of a store. Any number of clients may share a store. */
export function createMemoryClient(options: MemoryClientOptions): KubeClient {
  return new MemoryClient(options);
}

class MemoryClient implements KubeClient {
  readonly server: string;
  readonly #options: MemoryClientOptions;
  readonly #store: ObjectStore;
  readonly #writes: ObjectWrites;

  constructor(options: MemoryClientOptions) {
    this.#options = options;
    this.server = options.name;
    this.#store = options.store;
    this.#writes = new ObjectWrites(options.store);
  }

  async get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    { signal }: CallOptions = {},
  ): Promise<T | undefined> {
    const path = objectPath(resource, key);
    return this.#respond({ verb: 'GET', path }, signal, () => {
      const found = this.#isServed(resource) ? this.#store.get(resource, key) : undefined;
      return found && typed<T>(found, resource);
    });
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions<T> = {},
  ): Promise<ObjectList<T>> {
    const { trim = (object) => object, bounds, limit, signal } = options;
    const path = collectionPath(resource, options.namespace);
    return this.#respond({ verb: 'GET', path }, signal, () => {
      this.#assertServed(resource);
      const items: T[] = [];
      let bytes = 0;
      const selected = this.#store.list(resource).filter(selectorOf(options));
      for (const object of selected.slice(0, limit)) {
        const trimmed = readObject(typed<T>(object, resource), trim);
        items.push(trimmed);
        if (bounds === undefined) continue;
        bytes += sizeBytes(trimmed);
        assertWithin({ objects: items.length, bytes }, bounds);
      }
      return { items, resourceVersion: String(this.#store.version) };
    });
  }

  async currentVersion(
    resource: Resource,
    { namespace, signal }: Selection & CallOptions = {},
  ): Promise<string> {
    return this.#respond({ verb: 'GET', path: collectionPath(resource, namespace) }, signal, () => {
      this.#assertServed(resource);
      return String(this.#store.version);
    });
  }

  async count(resource: Resource, { signal }: CallOptions = {}): Promise<number> {
    return this.#respond({ verb: 'GET', path: collectionPath(resource) }, signal, () => {
      this.#assertServed(resource);
      return this.#store.list(resource).length;
    });
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { signal, resourceVersion, onOpen } = options;
    const call = { verb: 'GET', path: collectionPath(resource, options.namespace) };
    const events = new EventQueue<T>();
    const stop = await this.#respond(call, signal, () => {
      this.#assertServed(resource);
      return watchStore({
        store: this.#store,
        resource,
        resourceVersion,
        selected: selectorOf(options),
        onEvent: ({ type, object }) => events.push({ type, object: typed<T>(object, resource) }),
        onOther: (version) => events.bookmark(String(version)),
      });
    });
    const abort = () => events.wake();
    signal?.addEventListener('abort', abort);
    try {
      onOpen?.();
      for (;;) {
        for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
        if (signal?.aborted === true) throw this.#aborted(call);
        await events.untilWoken();
      }
    } finally {
      stop();
      signal?.removeEventListener('abort', abort);
    }
  }

  async create<T extends KubeObject>(
    resource: Resource,
    object: T,
    { signal }: CallOptions = {},
  ): Promise<T> {
    const path = collectionPath(resource, namespaceFor(resource, object.metadata));
    return this.#write<T>({ verb: 'POST', path }, resource, signal, () =>
      this.#writes.create(this.#call(resource, object.metadata), body(object)),
    );
  }

  async replace<T extends KubeObject>(
    resource: Resource,
    object: T,
    { subresource, signal }: CallOptions & { readonly subresource?: 'status' } = {},
  ): Promise<T> {
    const path = objectPath(resource, object.metadata, subresource);
    return this.#write<T>({ verb: 'PUT', path }, resource, signal, () =>
      this.#writes.replace(this.#call(resource, object.metadata, subresource), body(object)),
    );
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions = {}): Promise<T> {
    const { subresource, dryRun = false, force = false, signal } = options;
    const resource = options.resource ?? resourceOf(object);
    const path = objectPath(resource, object.metadata, subresource);
    return this.#write<T>({ verb: 'PATCH', path }, resource, signal, () => {
      const call = { ...this.#call(resource, object.metadata, subresource), dryRun };
      return this.#writes.apply(call, body(object), force);
    });
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    type: PatchType,
    patch: unknown,
    { subresource, signal }: CallOptions & { readonly subresource?: 'status' } = {},
  ): Promise<T> {
    const path = objectPath(resource, key, subresource);
    return this.#write<T>({ verb: 'PATCH', path }, resource, signal, () => {
      const change = asJson(patch);
      return this.#writes.patch(this.#call(resource, key, subresource), (live) =>
        type === 'merge' ? mergePatch(live, change) : jsonPatch(live, change),
      );
    });
  }

  async delete(
    resource: Resource,
    key: ObjectKey,
    { uid, resourceVersion, signal }: DeleteOptions = {},
  ): Promise<boolean> {
    const path = objectPath(resource, key);
    try {
      await this.#write({ verb: 'DELETE', path }, resource, signal, () =>
        this.#writes.remove(this.#call(resource, key), { uid, resourceVersion }),
      );
      return true;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return false;
      throw error;
    }
  }

  async discoverPlurals(
    apiVersion: string,
    { signal }: CallOptions = {},
  ): Promise<ReadonlySet<string>> {
    const served = this.#options.resources.filter(
      (candidate) => candidate.apiVersion === apiVersion,
    );
    return this.#respond({ verb: 'GET', path: apiVersion }, signal, () => {
      return new Set(served.map(({ plural }) => plural));
    });
  }

  /** There are no kubelets. */
  async kubeletStatus(node: string, { signal }: CallOptions = {}): Promise<number> {
    return this.#respond({ verb: 'GET', path: kubeletPath(node) }, signal, () => {
      throw noSuchPath();
    });
  }

  async version({ signal }: CallOptions = {}): Promise<{ readonly gitVersion: string }> {
    return this.#respond({ verb: 'GET', path: '/version' }, signal, () => ({
      gitVersion: VERSION,
    }));
  }

  async #write<T extends KubeObject>(
    call: Omit<CallName, 'server'>,
    resource: Resource,
    signal: AbortSignal | undefined,
    write: () => ApiObject,
  ): Promise<T> {
    return this.#respond(call, signal, () => {
      this.#assertServed(resource);
      return typed<T>(write(), resource);
    });
  }

  /** Answers asynchronously, as over a network, and throws only KubeErrors. */
  async #respond<T>(
    call: Omit<CallName, 'server'>,
    signal: AbortSignal | undefined,
    response: () => T,
  ): Promise<T> {
    await Promise.resolve();
    if (signal?.aborted === true) throw this.#aborted(call);
    const name = { ...call, server: this.server };
    try {
      return response();
    } catch (error) {
      if (isKubeError(error)) throw error;
      const failure = error instanceof ApiFailure ? error : internal(error);
      const { status } = failure;
      const text = JSON.stringify(failure.body());
      throw errorOfResponse(name, { status, body: text, retryAfter: undefined });
    }
  }

  #aborted({ verb, path }: Omit<CallName, 'server'>): KubeError {
    return new KubeError('Aborted', `${verb} ${path} at ${this.server}: canceled by the caller`);
  }

  #call(resource: Resource, key: ObjectKey, subresource?: 'status'): WriteCall {
    if (subresource !== undefined && !hasStatus(resource.kind)) throw noSuchPath();
    const { name } = key;
    const namespace = namespaceFor(resource, key);
    return {
      resource,
      subresource,
      dryRun: false,
      key: { name, ...(namespace !== undefined && { namespace }) },
      manager: this.#options.fieldManager ?? 'snicket',
    };
  }

  #isServed({ apiVersion, plural }: Resource): boolean {
    return this.#options.resources.some(
      (candidate) => candidate.apiVersion === apiVersion && candidate.plural === plural,
    );
  }

  #assertServed(resource: Resource): void {
    if (!this.#isServed(resource)) throw noSuchPath();
  }
}

/** Such as a full disk, or a bug. */
function internal(error: unknown): ApiFailure {
  return new ApiFailure(
    500,
    'InternalError',
    error instanceof Error ? error.message : String(error),
  );
}

/** Returns the selector of a list or watch. @throws ApiFailure if it is invalid */
function selectorOf({ namespace, ...selection }: Selection): Selector {
  const labels = labelSelector(selection.labelSelector ?? '');
  const fields = fieldSelector(selection.fieldSelector ?? '');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object) &&
    fields(object);
}

/** Returns the object as the caller's type. It is shared with the store and must not be changed in place. */
function typed<T extends KubeObject>(object: ApiObject, resource: Resource): T {
  return withApiVersion(object, resource) as KubeObject as T;
}

/** Returns a JSON copy, since the caller may change its object later. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function body(object: KubeObject): JsonObject {
  return asJson(object) as JsonObject;
}
