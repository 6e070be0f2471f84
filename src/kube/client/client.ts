/**
 * What Snicket asks of an API server. One client stands for one server and one identity.
 *
 * Every call ends in time (a signal, or the client's own limit), and fails with a {@link KubeError} only. A client holds
 * no state but its credentials: it may be shared by any number of callers.
 */
import type { InformerBounds } from '../informer/bounds.ts';
import type { KubeObject, ObjectKey } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Options that every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Which objects to list or to watch. */
export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** As kubectl's `-l`. */
  readonly labelSelector?: string | undefined;
  /** As `metadata.name=kubernetes`. */
  readonly fieldSelector?: string | undefined;
}

/** A list at one point in time. */
export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Options of {@link KubeClient.watch}. */
export interface WatchOptions extends Selection, CallOptions {
  /** Of a list, or of the last event: what came after it is told. */
  readonly resourceVersion: string;
  /** Called once, when the server has begun to answer: the first event may be a minute away. */
  readonly onOpen?: (() => void) | undefined;
}

/** What a watch tells. A bookmark carries nothing but a resourceVersion to go on from. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Options of {@link KubeClient.apply}. */
export interface ApplyOptions extends CallOptions {
  /** Takes fields of other managers. Default false: those are a conflict, an error that names their owners. */
  readonly force?: boolean;
  /** `status`: the status alone. */
  readonly subresource?: 'status';
  /** The answer is what would be; nothing is written. */
  readonly dryRun?: boolean;
  /** Needed for a kind that is not in RESOURCES. Default: `resourceOf` the object. */
  readonly resource?: Resource;
}

/** Options of {@link KubeClient.list}. */
export interface ListOptions<T extends KubeObject> extends Selection, CallOptions {
  /** What to keep of each object: done page by page, so that a long list is never in memory whole. Default: all. */
  readonly trim?: ((object: T) => T) | undefined;
  /** The most that may be kept; a list that is longer is not read to its end. Default: the client's own limits. */
  readonly bounds?: InformerBounds | undefined;
}

/** Options of {@link KubeClient.delete}. */
export interface DeleteOptions extends CallOptions {
  /** Only the object with this uid; another of the same name is a Conflict. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Default `Background`. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** How `patch` reads its body. */
export type PatchType = 'merge' | 'json';

/** A server, as one identity sees it. */
export interface KubeClient {
  /** Its address, for messages. */
  readonly server: string;

  /** Undefined if there is no such object; any other failure throws. */
  get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    options?: CallOptions,
  ): Promise<T | undefined>;

  /** All pages; `limit` of one page is the client's affair. A list that expires half way begins again. */
  list<T extends KubeObject>(resource: Resource, options?: ListOptions<T>): Promise<ObjectList<T>>;

  /** The resourceVersion of the server at this moment, from a consistent list of at most one object. */
  currentVersion(resource: Resource, options?: Selection & CallOptions): Promise<string>;

  /** How many there are of a kind, by a page of one. */
  count(resource: Resource, options?: CallOptions): Promise<number>;

  /** Ends (returns) when the server ends it; throws a KubeError when it breaks, `Expired` for a version that is gone. */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;

  create<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>;

  /** Replaces the whole object; needs its resourceVersion to be the current one, else Conflict. */
  replace<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: CallOptions & { readonly subresource?: 'status' },
  ): Promise<T>;

  /** Server-side apply, as the client's field manager. */
  apply<T extends KubeObject>(object: T, options?: ApplyOptions): Promise<T>;

  patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    type: PatchType,
    body: unknown,
    options?: CallOptions & { readonly subresource?: 'status' },
  ): Promise<T>;

  /** False if there was no such object. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;

  /** The plural names of what one group version serves; empty if it is not there. */
  servedPlurals(apiVersion: string, options?: CallOptions): Promise<ReadonlySet<string>>;

  /** `/version`. */
  version(options?: CallOptions): Promise<{ readonly gitVersion: string }>;
}

/** A client for objects that are known by name: no lists and no watches. */
export type ObjectClient = Pick<
  KubeClient,
  'server' | 'get' | 'create' | 'replace' | 'apply' | 'patch' | 'delete'
>;
