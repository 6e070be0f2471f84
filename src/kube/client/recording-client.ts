/**
 * Clients that record writes instead of sending them. Reads return the objects of the API server with the recorded
 * writes applied, so that a read after a write returns the same as with a real client. They need only read permissions.
 *
 * The outcome of a write is computed by the rules of an API server (`kube/store`). Admission webhooks, defaults and
 * validation of the real server are not applied.
 */
import { createMemoryClient } from '../store/memory-client.ts';
import { ObjectStore, type ApiObject } from '../store/object-store.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';
import { groupOf, RESOURCES, resourceOf, type Resource } from '../resource.ts';
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectClient,
  ObjectList,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from './client.ts';

/** A write that would change something. */
export interface RecordedWrite {
  readonly verb: 'create' | 'replace' | 'apply' | 'patch' | 'delete';
  readonly resource: Resource;
  /** The configuration that was applied. Verb `apply` only. */
  readonly applied?: KubeObject;
  /** The object before the write. Absent: it did not exist. */
  readonly before: KubeObject | undefined;
  /** The object after the write. Absent: it is gone. */
  readonly after: KubeObject | undefined;
}

type SubresourceOptions = CallOptions & { readonly subresource?: 'status' };

/** Records writes to objects that are known by name. */
export class RecordingObjectClient implements ObjectClient {
  readonly server: string;
  /** In the order of the calls. */
  readonly writes: RecordedWrite[] = [];
  readonly #reader: Pick<KubeClient, 'get'>;
  readonly #store = new ObjectStore({ historyLimit: 0 });
  /** The kinds of recorded objects. */
  readonly #resources: Resource[] = [RESOURCES.namespace];
  protected readonly recorded: KubeClient;
  /** By kind and key: objects that are read from the store from now on. */
  readonly #loaded = new Set<string>();

  /** @param fieldManager - The field manager of the recorded writes. */
  constructor(reader: Pick<KubeClient, 'get'>, server: string, fieldManager = 'snicket') {
    this.server = server;
    this.#reader = reader;
    this.recorded = createMemoryClient({
      store: this.#store,
      resources: this.#resources,
      fieldManager,
      name: server,
    });
  }

  async get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    options?: CallOptions,
  ): Promise<T | undefined> {
    const source = this.isLoaded(resource, key) ? this.recorded : this.#reader;
    return source.get<T>(resource, key, options);
  }

  async create<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: CallOptions,
  ): Promise<T> {
    return this.#record('create', resource, object.metadata, options, async () =>
      this.recorded.create(resource, object, options),
    );
  }

  async replace<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: SubresourceOptions,
  ): Promise<T> {
    return this.#record('replace', resource, object.metadata, options, async () =>
      this.recorded.replace(resource, object, options),
    );
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions = {}): Promise<T> {
    const resource = options.resource ?? resourceOf(object);
    const apply = async () => this.recorded.apply(object, options);
    return this.#record('apply', resource, object.metadata, options, apply, object);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    type: PatchType,
    body: unknown,
    options?: SubresourceOptions,
  ): Promise<T> {
    return this.#record('patch', resource, key, options, async () =>
      this.recorded.patch<T>(resource, key, type, body, options),
    );
  }

  async delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#record('delete', resource, key, options, async () =>
      this.recorded.delete(resource, key, options),
    );
  }

  /** Stores an object in place of that of the API server. This is not recorded as a write. */
  assume(resource: Resource, object: KubeObject): void {
    this.#restore(resource, object.metadata, object);
  }

  async #record<T>(
    verb: RecordedWrite['verb'],
    resource: Resource,
    key: ObjectKey,
    options: CallOptions | undefined,
    write: () => Promise<T>,
    applied?: KubeObject,
  ): Promise<T> {
    await this.#load(resource, key, options);
    const before = this.#store.get(resource, key);
    const result = await write();
    const after = this.#store.get(resource, key);
    if (before !== after) {
      this.writes.push({
        verb,
        resource,
        before,
        after,
        ...(applied !== undefined && { applied }),
      });
    }
    return result;
  }

  /** Loads an object from the API server before its first write. */
  async #load(resource: Resource, key: ObjectKey, options?: CallOptions): Promise<void> {
    if (this.isLoaded(resource, key)) return;
    const live = await this.#reader.get(resource, key, { signal: options?.signal });
    this.#restore(resource, key, live);
  }

  #restore(resource: Resource, key: ObjectKey, object: KubeObject | undefined): void {
    if (!this.hasKind(resource)) this.#resources.push(resource);
    const { namespace } = key;
    // The existence of the namespace is not checked: the caller may have no permission to read it.
    if (
      namespace !== undefined &&
      this.#store.get(RESOURCES.namespace, { name: namespace }) === undefined
    ) {
      const { apiVersion, kind } = RESOURCES.namespace;
      this.#store.restore(RESOURCES.namespace, { apiVersion, kind, metadata: { name: namespace } });
    }
    if (object !== undefined) this.#store.restore(resource, object as ApiObject);
    this.#loaded.add(nameOf(resource, key));
  }

  /** Reports whether an object of this kind was written. */
  protected hasKind({ apiVersion, plural }: Resource): boolean {
    return this.#resources.some(
      (resource) => resource.apiVersion === apiVersion && resource.plural === plural,
    );
  }

  /** Reports whether reads of the object come from the recording. */
  protected isLoaded(resource: Resource, key: ObjectKey): boolean {
    return this.#loaded.has(nameOf(resource, key));
  }
}

/** Records writes to one API server. */
export class RecordingClient extends RecordingObjectClient implements KubeClient {
  readonly #client: KubeClient;

  constructor(client: KubeClient, fieldManager?: string) {
    super(client, client.server, fieldManager);
    this.#client = client;
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions<T> = {},
  ): Promise<ObjectList<T>> {
    const live = await this.#client.list<T>(resource, options);
    if (!this.hasKind(resource)) return live;
    const recorded = await this.recorded.list<T>(resource, options);
    const items = [
      ...live.items.filter(({ metadata }) => !this.isLoaded(resource, metadata)),
      ...recorded.items.filter(({ metadata }) => this.isLoaded(resource, metadata)),
    ];
    return { items, resourceVersion: live.resourceVersion };
  }

  async count(resource: Resource, options?: CallOptions): Promise<number> {
    if (!this.hasKind(resource)) return this.#client.count(resource, options);
    return (await this.list(resource, options)).items.length;
  }

  async currentVersion(resource: Resource, options?: Selection & CallOptions): Promise<string> {
    return this.#client.currentVersion(resource, options);
  }

  /** Watches the API server. Recorded writes cause no events. */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>> {
    return this.#client.watch<T>(resource, options);
  }

  async discoverPlurals(apiVersion: string, options?: CallOptions): Promise<ReadonlySet<string>> {
    return this.#client.discoverPlurals(apiVersion, options);
  }

  async kubeletStatus(node: string, options?: CallOptions): Promise<number> {
    return this.#client.kubeletStatus(node, options);
  }

  async version(options?: CallOptions): Promise<{ readonly gitVersion: string }> {
    return this.#client.version(options);
  }
}

/** Returns the same name for all versions of a kind. */
function nameOf({ apiVersion, plural }: Resource, key: ObjectKey): string {
  return `${groupOf(apiVersion)}/${plural}/${keyText(key)}`;
}
