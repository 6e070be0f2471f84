/**
 * The Kubernetes API client. One client stands for one server and one identity.
 *
 * Every call ends in time (by its signal, or the client's own limit), and fails only with a {@link KubeError}. A client
 * has no state except its credentials, so any number of callers may share it.
 */
import type { InformerBounds } from '../informer/bounds.ts';
import type { KubeObject, ObjectKey } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Options that every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options that every write takes. */
export interface WriteOptions extends CallOptions {
  /**
   * Called right before the request is sent over a connection, and before each retry. The write fails with what this
   * throws. A client in memory does not call it.
   */
  readonly assertMaySend?: (() => void) | undefined;
}

/** Which objects to list or to watch. */
export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** The same syntax as `kubectl -l`. */
  readonly labelSelector?: string | undefined;
  /** For example `metadata.name=kubernetes`. */
  readonly fieldSelector?: string | undefined;
}

/** A consistent list at one resourceVersion. */
export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Options of {@link KubeClient.watch}. */
export interface WatchOptions extends Selection, CallOptions {
  /** The version of a list or of the last event. The watch reports events after it. */
  readonly resourceVersion: string;
  /** Called once, when the response starts. The first event may come a minute later. */
  readonly onOpen?: (() => void) | undefined;
}

/** An event of a watch. A bookmark has only a resourceVersion to resume from. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Options of {@link KubeClient.apply}. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other managers. Default false: they cause a Conflict error that names their owners. */
  readonly force?: boolean;
  /** `status`: applies only the status. */
  readonly subresource?: 'status';
  /** Returns the result without writing it. */
  readonly dryRun?: boolean;
  /** Required for a kind that is not in RESOURCES. Default: `resourceOf` the object. */
  readonly resource?: Resource;
}

/** Options of {@link KubeClient.list}. */
export interface ListOptions<T extends KubeObject> extends Selection, CallOptions {
  /**
   * Trims each object, page by page, so that a long list is never in memory in full. Default: objects are kept as they
   * are.
   */
  readonly trim?: ((object: T) => T) | undefined;
  /** The maximum to retain. A longer list is not read to its end. Default: the client's own limits. */
  readonly bounds?: InformerBounds | undefined;
  /** Returns the first objects only, at most this many. Default: all objects. */
  readonly limit?: number | undefined;
}

/** Options of {@link KubeClient.delete}. */
export interface DeleteOptions extends WriteOptions {
  /** Deletes only the object with this uid. Another object of the same name is a Conflict. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Default `Background`. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** How `patch` reads its body. */
export type PatchType = 'merge' | 'json';

/** A client of one server with one identity. */
export interface KubeClient {
  /** The address of the server, for messages. */
  readonly server: string;

  /** Returns undefined if the object does not exist. Any other failure throws. */
  get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    options?: CallOptions,
  ): Promise<T | undefined>;

  /** Lists all pages. The client chooses the page size. A list whose snapshot expires half way starts over. */
  list<T extends KubeObject>(resource: Resource, options?: ListOptions<T>): Promise<ObjectList<T>>;

  /** Returns the current resourceVersion of the server, from a consistent list of at most one object. */
  currentVersion(resource: Resource, options?: Selection & CallOptions): Promise<string>;

  /** Returns the number of objects of a kind, from a list with limit 1. */
  count(resource: Resource, options?: CallOptions): Promise<number>;

  /**
   * Watches objects. Returns when the server ends the watch. Throws a KubeError when the watch breaks: `Expired` if the
   * resourceVersion is no longer available.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;

  /** Creates an object. An access review has the name ''. */
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;

  /** Replaces the whole object. Fails with a Conflict if its resourceVersion is not the current one. */
  replace<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: WriteOptions & { readonly subresource?: 'status' },
  ): Promise<T>;

  /** Server-side apply with the client's field manager. */
  apply<T extends KubeObject>(object: T, options?: ApplyOptions): Promise<T>;

  patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    type: PatchType,
    body: unknown,
    options?: WriteOptions & { readonly subresource?: 'status' },
  ): Promise<T>;

  /** Returns false if the object did not exist. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;

  /** Returns the plural names of the resources of a group version. Empty if it is not served. */
  discoverPlurals(apiVersion: string, options?: CallOptions): Promise<ReadonlySet<string>>;

  /**
   * Requests `/healthz` of a node's kubelet through the API server, and returns the HTTP status of the kubelet's response.
   * The body is not returned. A Status, which the API server sends, is an error.
   */
  kubeletStatus(node: string, options?: CallOptions): Promise<number>;

  /** Returns the version of the server, from `/version`. */
  version(options?: CallOptions): Promise<{ readonly gitVersion: string }>;
}

/** A client for objects known by name, without lists and watches. */
export type ObjectClient = Pick<
  KubeClient,
  'server' | 'get' | 'create' | 'replace' | 'apply' | 'patch' | 'delete'
>;
