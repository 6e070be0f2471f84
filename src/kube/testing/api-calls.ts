/**
 * For tests only: one request to an API server, from its URL and body to the answer.
 */
import { RESOURCES, type Resource } from '../resource.ts';
import { ApiFailure, badRequest, noSuchPath, notFound } from './api-failure.ts';
import { readPath } from './api-path.ts';
import { hasStatus } from './apply/list-types.ts';
import { discoveryDocument } from './discovery.ts';
import { isObject, objectIn, type JsonObject } from './json.ts';
import type { ApiObject, ObjectStore } from './object-store.ts';
import { ObjectWrites, type WriteCall } from './object-writes.ts';
import { jsonPatch, mergePatch } from './patch.ts';
import { fieldSelector, labelSelector, type Selector } from './selector.ts';
import { withApiVersion } from './watch.ts';

/** A request, read as far as its head goes. */
export interface ApiCall {
  readonly verb: Verb;
  readonly method: string;
  readonly path: string;
  /** Absent for documents, as /version. */
  readonly resource: Resource | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
}

/** What a request does, in the words of RBAC, with `apply` apart from `patch`. */
export type Verb =
  | 'read'
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'delete';

/** The verbs that change something. */
export const WRITE_VERBS: ReadonlySet<Verb> = new Set([
  'create',
  'update',
  'patch',
  'apply',
  'delete',
]);

const APPLY_TYPES = ['application/apply-patch+yaml', 'application/apply-patch+json'];

/** What a request asks for. @throws ApiFailure if there is no such path. */
export function readCall(
  method: string,
  url: URL,
  header: (name: string) => string,
  resources: readonly Resource[],
): ApiCall {
  const path = readPath(url.pathname, resources);
  if (path === undefined) throw noSuchPath();
  const contentType = (header('content-type').split(';')[0] ?? '').trim();
  const isObjects = path.kind === 'objects';
  return {
    verb: isObjects ? verbOf(method, url.searchParams, path.name, contentType) : 'read',
    method,
    path: url.pathname,
    resource: isObjects ? path.resource : undefined,
    namespace: isObjects ? path.namespace : undefined,
    name: isObjects ? path.name : undefined,
    subresource: isObjects ? path.subresource : undefined,
    query: url.searchParams,
    contentType,
    userAgent: header('user-agent'),
  };
}

function verbOf(
  method: string,
  query: URLSearchParams,
  name: string | undefined,
  contentType: string,
): Verb {
  if (method === 'GET') {
    if (name !== undefined) return 'get';
    return ['1', 'true'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
  }
  if (method === 'POST' && name === undefined) return 'create';
  if (method === 'PUT' && name !== undefined) return 'update';
  if (method === 'DELETE' && name !== undefined) return 'delete';
  if (method === 'PATCH' && name !== undefined) {
    return APPLY_TYPES.includes(contentType) ? 'apply' : 'patch';
  }
  throw new ApiFailure(405, 'MethodNotAllowed', 'the server does not allow this method here');
}

/** Answers requests from a store. */
export class ApiCalls {
  readonly #store: ObjectStore;
  readonly #writes: ObjectWrites;
  readonly #resources: readonly Resource[];

  constructor(store: ObjectStore, resources: readonly Resource[]) {
    this.#store = store;
    this.#writes = new ObjectWrites(store);
    this.#resources = resources;
  }

  /** The status and the body of the answer; a watch is not answered here. @throws ApiFailure */
  answer(call: ApiCall, body: string): { status: number; body: JsonObject | string } {
    const { resource } = call;
    if (resource === undefined) {
      const document = discoveryDocument(call.path.replace(/(.)\/$/, '$1'), this.#resources);
      if (document === undefined) throw noSuchPath();
      return { status: 200, body: document };
    }
    if (call.verb === 'list') return { status: 200, body: this.#list(call, resource) };
    if (call.verb === 'get') return { status: 200, body: this.#get(call, resource) };
    const existed = this.#store.get(resource, keyOf(call, '')) !== undefined;
    const written = withApiVersion(this.#write(call, resource, body), resource);
    return {
      status: call.verb === 'create' || (call.verb === 'apply' && !existed) ? 201 : 200,
      body: written,
    };
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
        ? { items: this.#store.list(resource).filter(selectedBy(call)), at: this.#store.version }
        : this.#store.page(token);
    const page = limit > 0 ? items.slice(0, limit) : items;
    const rest = items.slice(page.length);
    return {
      kind: `${resource.kind}List`,
      apiVersion: resource.apiVersion,
      metadata: {
        resourceVersion: String(at),
        ...(rest.length === 0
          ? {}
          : { continue: this.#store.keepPage(rest, at), remainingItemCount: rest.length }),
      },
      // As in a real list, items do not say what they are.
      items: page.map(({ apiVersion: _version, kind: _kind, ...item }) => item),
    };
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
        throw new ApiFailure(415, 'UnsupportedMediaType', `no patch is a '${call.contentType}'`);
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

/** Which objects a list or a watch asks for. */
export function selectedBy({ query, namespace }: ApiCall): Selector {
  const labels = labelSelector(query.get('labelSelector') ?? '');
  const fields = fieldSelector(query.get('fieldSelector') ?? '');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object) &&
    fields(object);
}

function keyOf({ namespace, name }: ApiCall, inBody: string): { name: string; namespace?: string } {
  return { name: name ?? inBody, ...(namespace === undefined ? {} : { namespace }) };
}

function nameIn(body: unknown): string {
  const { name } = objectIn(body, 'metadata');
  return typeof name === 'string' ? name : '';
}

/** As a real server: the parameter, else the program's name. */
function managerOf({ query, userAgent }: ApiCall): string {
  return query.get('fieldManager') ?? userAgent.split('/')[0] ?? 'unknown';
}

function checkSubresource({ subresource }: ApiCall, { kind }: Resource): void {
  if (subresource === undefined || (subresource === 'status' && hasStatus(kind))) return;
  throw noSuchPath();
}

/** The body must be of the place that it is sent to. */
function checkedBody(body: unknown, call: ApiCall, { apiVersion, kind }: Resource): JsonObject {
  if (!isObject(body)) throw badRequest('the body is no object');
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(
      `the body is no JSON: ${error instanceof Error ? error.message : String(error)}`,
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
