/**
 * For tests only: parses requests to an API server.
 */
import type { Resource } from '../resource.ts';
import { ApiFailure, noSuchPath } from '../store/api-failure.ts';
import { parseApiPath } from './api-path.ts';
import { fieldSelector, labelSelector, type Selector } from '../store/selector.ts';

/** A parsed request without its body. */
export interface ApiCall {
  readonly verb: Verb;
  readonly method: string;
  readonly path: string;
  /** Absent for documents such as /version. */
  readonly resource: Resource | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
}

/** The verb of a request as in RBAC, with `apply` separate from `patch`. `read` stands for a path without objects. */
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

/** Parses a request. @throws ApiFailure if the path does not exist */
export function parseApiCall(
  method: string,
  url: URL,
  header: (name: string) => string,
  resources: readonly Resource[],
): ApiCall {
  const path = parseApiPath(url.pathname, resources);
  if (path === undefined) throw noSuchPath();
  const contentType = (header('content-type').split(';')[0] ?? '').trim();
  const isObjectPath = path.kind === 'objects';
  return {
    verb: isObjectPath ? verbOf(method, url.searchParams, path.name, contentType) : 'read',
    method,
    path: url.pathname,
    resource: isObjectPath ? path.resource : undefined,
    namespace: isObjectPath ? path.namespace : undefined,
    name: isObjectPath ? path.name : undefined,
    subresource: isObjectPath ? path.subresource : undefined,
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

/** Returns the selector of a list or watch: by namespace, labels and fields. */
export function selectorOf({ query, namespace }: ApiCall): Selector {
  const labels = labelSelector(query.get('labelSelector') ?? '');
  const fields = fieldSelector(query.get('fieldSelector') ?? '');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object) &&
    fields(object);
}
