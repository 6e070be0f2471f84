/**
 * For tests only: handles the requests of an API server.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { RESOURCES, type Resource } from '../resource.ts';
import { ApiFailure, badRequest, expired, noSuchPath, notFound } from '../store/api-failure.ts';
import { selectorOf, type ApiCall } from './api-call.ts';
import type { ApiResponse } from './api-response.ts';
import { hasStatus } from '../store/apply/list-types.ts';
import { discoveryDocument } from './discovery.ts';
import { isObject, objectIn, type JsonObject } from '../store/json.ts';
import type { ApiObject, ObjectStore } from '../store/object-store.ts';
import { ObjectWrites, type WriteCall } from '../store/object-writes.ts';
import { jsonPatch, mergePatch } from '../store/patch.ts';
import { withApiVersion } from '../store/watch.ts';

interface Page {
  readonly items: readonly ApiObject[];
  readonly at: number;
}

const KUBELET_PATH = /^\/api\/v1\/nodes\/([^/]+)\/proxy\/healthz$/;

/** Handles requests with a store. */
export class ApiCalls {
  readonly #store: ObjectStore;
  readonly #writes: ObjectWrites;
  readonly #resources: readonly Resource[];
  /** The remaining items of each incomplete list, as a snapshot. */
  readonly #pages = new Map<string, Page>();

  constructor(store: ObjectStore, resources: readonly Resource[], clock: Clock = systemClock) {
    this.#store = store;
    this.#writes = new ObjectWrites(store, clock);
    this.#resources = resources;
  }

  /** Expires the continue tokens of incomplete lists. */
  forgetPages(): void {
    this.#pages.clear();
  }

  /** Returns the status and body of the response. Watches are not handled here. @throws ApiFailure */
  response(call: ApiCall, body: string): ApiResponse {
    const { resource } = call;
    if (resource === undefined) {
      const node = KUBELET_PATH.exec(call.path)?.[1];
      if (node !== undefined) return this.#kubelet(node);
      const document = discoveryDocument(call.path.replace(/(.)\/$/, '$1'), this.#resources);
      if (document === undefined) throw noSuchPath();
      return { status: 200, body: document };
    }
    if (call.verb === 'list') return { status: 200, body: this.#list(call, resource) };
    if (call.verb === 'get') return { status: 200, body: this.#get(call, resource) };
    if (resource.kind === 'SelfSubjectAccessReview') return { status: 201, body: allowed(body) };
    const existed = this.#store.get(resource, keyOf(call, '')) !== undefined;
    const written = withApiVersion(this.#write(call, resource, body), resource);
    return {
      status: call.verb === 'create' || (call.verb === 'apply' && !existed) ? 201 : 200,
      body: written,
    };
  }

  /** The response of a kubelet. A fault replaces it. */
  #kubelet(node: string): ApiResponse {
    const exists = this.#store.get(RESOURCES.node, { name: node }) !== undefined;
    if (!exists) throw notFound(RESOURCES.node, node);
    return { status: 200, body: {} };
  }

  #get(call: ApiCall, resource: Resource): ApiObject {
    const key = keyOf(call, '');
    checkSubresource(call, resource);
    const object = this.#store.get(resource, key);
    if (object === undefined) throw notFound(resource, key.name);
    return withApiVersion(object, resource);
  }

  #list(call: ApiCall, resource: Resource): JsonObject {
    const { query } = call;
    const limit = Number(query.get('limit') ?? 0);
    const token = query.get('continue') ?? '';
    const { items, at } =
      token === ''
        ? { items: this.#store.list(resource).filter(selectorOf(call)), at: this.#store.version }
        : this.#page(token);
    const page = limit > 0 ? items.slice(0, limit) : items;
    const rest = items.slice(page.length);
    return {
      kind: `${resource.kind}List`,
      apiVersion: resource.apiVersion,
      metadata: {
        resourceVersion: String(at),
        ...(rest.length === 0
          ? {}
          : { continue: this.#keepPage({ items: rest, at }), remainingItemCount: rest.length }),
      },
      // As in a real list, items have no apiVersion and kind.
      items: page.map(({ apiVersion: _version, kind: _kind, ...item }) => item),
    };
  }

  #keepPage(page: Page): string {
    const token = crypto.randomUUID();
    this.#pages.set(token, page);
    return token;
  }

  #page(token: string): Page {
    const page = this.#pages.get(token);
    if (page === undefined) throw expired(token, this.#store.version);
    return page;
  }

  #write(call: ApiCall, resource: Resource, text: string): ApiObject {
    checkSubresource(call, resource);
    const body = text === '' ? {} : parse(text);
    const write = (name = ''): WriteCall => ({
      resource,
      key: keyOf(call, name),
      subresource: call.subresource === 'status' ? 'status' : undefined,
      manager: managerOf(call),
      dryRun: call.query.get('dryRun') === 'All',
    });
    switch (call.verb) {
      case 'create':
        return this.#writes.create(write(nameIn(body)), checkedBody(body, call, resource));
      case 'update':
        return this.#writes.replace(write(), checkedBody(body, call, resource));
      case 'apply': {
        if (!call.query.has('fieldManager')) {
          throw badRequest('fieldManager is required for apply patch');
        }
        const force = call.query.get('force') === 'true';
        return this.#writes.apply(write(), checkedBody(body, call, resource), force);
      }
      case 'patch':
        if (call.contentType === 'application/merge-patch+json') {
          return this.#writes.patch(write(), (live) => mergePatch(live, body));
        }
        if (call.contentType === 'application/json-patch+json') {
          return this.#writes.patch(write(), (live) => jsonPatch(live, body));
        }
        throw new ApiFailure(
          415,
          'UnsupportedMediaType',
          `unknown patch type '${call.contentType}'`,
        );
      case 'delete':
        return this.#writes.remove(write(), objectIn(body, 'preconditions'));
      case 'read':
      case 'get':
      case 'list':
      case 'watch':
        throw new Error(`${call.verb} writes nothing`);
    }
  }
}

function keyOf({ namespace, name }: ApiCall, inBody: string): { name: string; namespace?: string } {
  return { name: name ?? inBody, ...(namespace === undefined ? {} : { namespace }) };
}

function nameIn(body: unknown): string {
  const { name } = objectIn(body, 'metadata');
  return typeof name === 'string' ? name : '';
}

/** As in a real server: the query parameter, or else the name of the program. */
function managerOf({ query, userAgent }: ApiCall): string {
  return query.get('fieldManager') ?? userAgent.split('/')[0] ?? 'unknown';
}

function checkSubresource({ subresource }: ApiCall, { kind }: Resource): void {
  if (subresource === undefined || (subresource === 'status' && hasStatus(kind))) return;
  throw noSuchPath();
}

/** Checks that the body matches the URL. */
function checkedBody(body: unknown, call: ApiCall, { apiVersion, kind }: Resource): JsonObject {
  if (!isObject(body)) throw badRequest('the body is not an object');
  if (body['apiVersion'] !== apiVersion || body['kind'] !== kind) {
    throw badRequest(
      `${String(body['apiVersion'])} ${String(body['kind'])} does not match ${apiVersion} ${kind}`,
    );
  }
  const { name, namespace } = objectIn(body, 'metadata');
  if (call.name !== undefined && name !== undefined && name !== call.name) {
    throw badRequest(
      `the name of the object (${JSON.stringify(name)}) does not match the name on the URL (${call.name})`,
    );
  }
  if (
    call.verb === 'create' &&
    call.resource?.namespaced === true &&
    call.namespace === undefined
  ) {
    throw noSuchPath();
  }
  if (namespace !== undefined && namespace !== call.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return body;
}

/** Returns the answer to an access review: the client may do everything. A review is not stored, and has no name. */
function allowed(text: string): JsonObject {
  const metadata = { creationTimestamp: null };
  return { ...objectIn({ review: parse(text) }, 'review'), metadata, status: { allowed: true } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(
      `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The namespaces that every cluster has. */
export const FIRST_NAMESPACES: readonly ApiObject[] = [
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
].map((name) => ({ apiVersion: 'v1', kind: RESOURCES.namespace.kind, metadata: { name } }));
