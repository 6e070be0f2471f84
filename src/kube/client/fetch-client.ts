/**
 * The API client: builds URLs and bodies, and reads responses.
 */
import type { Clock } from '../../clock/clock.ts';
import { DEFAULT_LIMITS, type ClientLimits } from './client-limits.ts';
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
  WriteOptions,
} from './client.ts';
import type { ClusterAccess } from '../access/cluster-access.ts';
import { assertWithin, sizeBytes } from '../informer/bounds.ts';
import { isKubeError } from '../kube-error.ts';
import { pluralsIn } from './discovery.ts';
import { pageOf, type Page } from './page.ts';
import { collectionPath, kubeletPath, namespaceFor, objectPath, versionPath } from './path.ts';
import { isObject, isReviewed, readObject } from '../object-read.ts';
import type { KubeObject, ObjectKey } from '../object.ts';
import { resourceOf, type Resource } from '../resource.ts';
import { malformed, sanitized } from '../transport/request-error.ts';
import { Transport, WATCH_SECONDS, type Call } from '../transport/transport.ts';
import type { RoundTripper } from '../transport/round-tripper.ts';
import { watchEvents } from './watch-stream.ts';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The field manager of writes. Default `snicket`. */
  readonly fieldManager?: string;
  /**
   * The time limit of a request, from the call to the end of the response. For a watch, to the start of the response.
   * Default 30,000.
   */
  readonly timeoutMs?: number;
  /** Default `snicket`. */
  readonly userAgent?: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default {@link DEFAULT_LIMITS}. */
  readonly limits?: ClientLimits;
  /** Default: TLS connections. */
  readonly roundTripper?: RoundTripper | undefined;
}

/** The number of attempts if the snapshot of a list expires. */
const MAX_LIST_ATTEMPTS = 3;

const PATCH_CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

/** Creates a client. It opens no connection before its first call. */
export function createClient(access: ClusterAccess, options: ClientOptions = {}): KubeClient {
  return new FetchClient(access, options);
}

class FetchClient implements KubeClient {
  readonly #transport: Transport;
  readonly #fieldManager: string;
  readonly #limits: ClientLimits;

  constructor(access: ClusterAccess, options: ClientOptions) {
    const { fieldManager = 'snicket', timeoutMs = 30_000, userAgent = 'snicket' } = options;
    const { clock, roundTripper, limits = DEFAULT_LIMITS } = options;
    this.#transport = new Transport(access, {
      timeoutMs,
      userAgent,
      responseBytes: limits.responseBytes,
      clock,
      roundTripper,
    });
    this.#limits = limits;
    this.#fieldManager = fieldManager;
  }

  get server(): string {
    return this.#transport.server;
  }

  async get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    { signal }: CallOptions = {},
  ): Promise<T | undefined> {
    return undefinedIfNotFound(
      this.#object<T>({ verb: 'GET', path: objectPath(resource, key), signal }),
    );
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions<T> = {},
  ): Promise<ObjectList<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#allPages(resource, options);
      } catch (error) {
        if (!isKubeError(error, 'Expired') || attempt >= MAX_LIST_ATTEMPTS) throw error;
      }
    }
  }

  async currentVersion(resource: Resource, options: Selection & CallOptions = {}): Promise<string> {
    return (await this.#pageOfOne(resource, options)).resourceVersion;
  }

  async count(resource: Resource, { signal }: CallOptions = {}): Promise<number> {
    const page = await this.#pageOfOne(resource, { signal });
    return page.items.length + page.remaining;
  }

  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>> {
    const { least, spread } = WATCH_SECONDS;
    const call: Call = {
      verb: 'GET',
      path: collectionPath(resource, options.namespace),
      query: {
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: options.resourceVersion,
        timeoutSeconds: String(least + Math.round(Math.random() * spread)),
        ...selectors(options),
      },
      signal: options.signal,
    };
    const open = async () => {
      const stream = await this.#transport.stream(call);
      options.onOpen?.();
      return stream;
    };
    return watchEvents<T>(open, this.#transport.nameOf(call), this.#limits);
  }

  async create<T extends KubeObject>(
    resource: Resource,
    object: T,
    { signal, assertMaySend }: WriteOptions = {},
  ): Promise<T> {
    const call: Call = {
      verb: 'POST',
      path: collectionPath(resource, namespaceFor(resource, object.metadata)),
      query: { fieldManager: this.#fieldManager },
      body: object,
      signal,
      assertMaySend,
    };
    const isReview = object.metadata.name === '';
    return this.#object(call, isReview);
  }

  async replace<T extends KubeObject>(
    resource: Resource,
    object: T,
    options: WriteOptions & { readonly subresource?: 'status' } = {},
  ): Promise<T> {
    return this.#object({
      verb: 'PUT',
      path: objectPath(resource, object.metadata, options.subresource),
      query: { fieldManager: this.#fieldManager },
      body: object,
      signal: options.signal,
      assertMaySend: options.assertMaySend,
    });
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions = {}): Promise<T> {
    const resource = options.resource ?? resourceOf(object);
    return this.#object({
      verb: 'PATCH',
      path: objectPath(resource, object.metadata, options.subresource),
      query: {
        fieldManager: this.#fieldManager,
        force: options.force === true ? 'true' : undefined,
        dryRun: options.dryRun === true ? 'All' : undefined,
      },
      body: object,
      contentType: 'application/apply-patch+yaml',
      signal: options.signal,
      assertMaySend: options.assertMaySend,
    });
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    type: PatchType,
    body: unknown,
    options: WriteOptions & { readonly subresource?: 'status' } = {},
  ): Promise<T> {
    return this.#object({
      verb: 'PATCH',
      path: objectPath(resource, key, options.subresource),
      query: { fieldManager: this.#fieldManager },
      body,
      contentType: PATCH_CONTENT_TYPES[type],
      signal: options.signal,
      assertMaySend: options.assertMaySend,
    });
  }

  async delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, propagation = 'Background', signal, assertMaySend } = options;
    const response = this.#transport.json({
      verb: 'DELETE',
      path: objectPath(resource, key),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: propagation,
        preconditions: { uid, resourceVersion },
      },
      signal,
      assertMaySend,
    });
    return (await undefinedIfNotFound(response)) !== undefined;
  }

  async discoverPlurals(
    apiVersion: string,
    { signal }: CallOptions = {},
  ): Promise<ReadonlySet<string>> {
    const call: Call = { verb: 'GET', path: versionPath(apiVersion), signal };
    const response = await undefinedIfNotFound(this.#transport.json(call));
    return response === undefined ? new Set() : pluralsIn(response);
  }

  async kubeletStatus(node: string, { signal }: CallOptions = {}): Promise<number> {
    return this.#transport.proxiedStatus({ verb: 'GET', path: kubeletPath(node), signal });
  }

  async version({ signal }: CallOptions = {}): Promise<{ readonly gitVersion: string }> {
    const call: Call = { verb: 'GET', path: '/version', signal };
    const response = (await this.#transport.json(call)) as { readonly gitVersion?: unknown } | null;
    const gitVersion = response?.gitVersion;
    const name = this.#transport.nameOf(call);
    if (typeof gitVersion === 'string') return { gitVersion: sanitized(name, gitVersion) };
    throw malformed(name, 'gitVersion is missing');
  }

  async #allPages<T extends KubeObject>(
    resource: Resource,
    { trim = (object) => object, bounds, limit, signal, ...selection }: ListOptions<T>,
  ): Promise<ObjectList<T>> {
    const { listBytes, listPages, pageObjects } = this.#limits;
    const items: T[] = [];
    let page: Page<T> | undefined;
    let bytes = 0;
    let totalBytes = 0;
    for (let pages = 0; page === undefined || page.continue !== ''; pages++) {
      const call: Call = {
        verb: 'GET',
        path: collectionPath(resource, selection.namespace),
        query: {
          limit: String(Math.min(limit ?? pageObjects, pageObjects)),
          continue: page?.continue,
          ...selectors(selection),
        },
        signal,
      };
      const name = this.#transport.nameOf(call);
      if (pages === listPages) {
        throw malformed(name, `a list of more than ${listPages} pages (listPages)`);
      }
      const response = await this.#transport.fullResponse(call);
      bytes += response.bytes;
      if (bytes > listBytes) {
        throw malformed(name, `a list of more than ${listBytes} bytes (listBytes)`);
      }
      page = pageOf<T>(response.content, resource);
      if (page === undefined) throw malformed(name, 'not a list');
      for (const item of page.items) {
        const trimmed = readObject(item, trim);
        items.push(trimmed);
        if (bounds === undefined) continue;
        totalBytes += sizeBytes(trimmed);
        assertWithin({ objects: items.length, bytes: totalBytes }, bounds);
      }
      if (limit !== undefined && items.length >= limit) {
        return { items: items.slice(0, limit), resourceVersion: page.resourceVersion };
      }
    }
    return { items, resourceVersion: page.resourceVersion };
  }

  async #pageOfOne(
    resource: Resource,
    { namespace, signal, ...selection }: Selection & CallOptions,
  ): Promise<Page<KubeObject>> {
    const path = collectionPath(resource, namespace);
    const query = { limit: '1', ...selectors(selection) };
    const call: Call = { verb: 'GET', path, query, signal };
    const page = pageOf(await this.#transport.json(call), resource);
    if (page === undefined) throw malformed(this.#transport.nameOf(call), 'not a list');
    return page;
  }

  async #object<T extends KubeObject>(call: Call, isReview = false): Promise<T> {
    const response = await this.#transport.json(call);
    if (isReview ? isReviewed(response) : isObject(response)) return response as T;
    throw malformed(this.#transport.nameOf(call), 'not an object');
  }
}

async function undefinedIfNotFound<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

function selectors({ labelSelector, fieldSelector }: Selection): Call['query'] {
  return { labelSelector, fieldSelector };
}
