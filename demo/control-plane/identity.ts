/** Authentication and authorization as in an API server: by a client certificate, by a token, or anonymous. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket, type PeerCertificate } from 'node:tls';
import type { ApiCall } from '../../src/kube/testing/api-call.ts';
import { ApiFailure } from '../../src/kube/store/api-failure.ts';
import { groupOf } from '../../src/kube/resource.ts';

/** A user in Kubernetes: a name and groups, without a stored object. */
export interface Identity {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Clients without credentials. */
const ANONYMOUS: Identity = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Group with all permissions. */
export const ADMINISTRATORS = 'system:masters';

/** Paths that every client may read. */
const PUBLIC_PATHS = ['/version', '/healthz', '/livez', '/readyz'];

/**
 * Authenticates a client.
 *
 * @throws ApiFailure if its certificate or token is invalid
 */
export function identityOf(
  request: IncomingMessage,
  tokens: ReadonlyMap<string, Identity>,
): Identity {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) throw unauthorized();
  // By its type the certificate always exists, but without a client certificate it has no subject.
  const { subject } = (socket.getPeerCertificate() ?? {}) as Partial<PeerCertificate>;
  if (subject !== undefined) {
    if (!socket.authorized) throw unauthorized();
    return authenticated(String(subject.CN), subject.O === undefined ? [] : [subject.O].flat());
  }
  const { authorization } = request.headers;
  if (authorization === undefined) return ANONYMOUS;
  const identity = tokens.get(authorization.replace(/^Bearer /, ''));
  if (identity === undefined) throw unauthorized();
  return authenticated(identity.username, identity.groups);
}

/**
 * Authorizes a call. Administrators may do everything, other users may read everything except Secrets, and anonymous
 * clients may read public paths.
 *
 * @throws ApiFailure if the call is forbidden, with the message of a real API server
 */
export function authorize({ username, groups }: Identity, call: ApiCall): void {
  if (groups.includes(ADMINISTRATORS) || PUBLIC_PATHS.includes(call.path)) return;
  const { verb, resource, path } = call;
  const isRead = ['read', 'get', 'list', 'watch'].includes(verb);
  const isAboutSelf = resource?.kind === 'SelfSubjectReview';
  const isAuthenticated = username !== ANONYMOUS.username;
  if (isAuthenticated && resource?.kind !== 'Secret' && (isRead || isAboutSelf)) return;
  const message =
    resource === undefined
      ? `forbidden: User "${username}" cannot get path "${path}"`
      : `${resource.plural} is forbidden: User "${username}" cannot ${verb} resource "${resource.plural}" in API group "${groupOf(resource.apiVersion)}"`;
  throw new ApiFailure(403, 'Forbidden', message);
}

function authenticated(username: string, groups: readonly string[]): Identity {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function unauthorized(): ApiFailure {
  return new ApiFailure(401, 'Unauthorized', 'Unauthorized');
}
