/**
 * Who asks, as an API server finds out: by a client certificate, by a token, or not at all.
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket, type PeerCertificate } from 'node:tls';
import type { ApiCall } from '../../src/kube/testing/api-call.ts';
import { ApiFailure } from '../../src/kube/store/api-failure.ts';
import { groupOf } from '../../src/kube/resource.ts';

/** A user as Kubernetes knows one: a name and groups, nothing that is stored anywhere. */
export interface Identity {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Whoever shows nothing. */
const ANONYMOUS: Identity = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** They may do everything. */
export const ADMINISTRATORS = 'system:masters';

/** What every server tells everybody. */
const PUBLIC_PATHS = ['/version', '/healthz', '/livez', '/readyz'];

/** The identity of a caller. @throws ApiFailure for a certificate or a token that is not good. */
export function identityOf(
  request: IncomingMessage,
  tokens: ReadonlyMap<string, Identity>,
): Identity {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) throw unauthorized();
  // By the types there always is one; a client that has shown none has no subject.
  const { subject } = (socket.getPeerCertificate() ?? {}) as Partial<PeerCertificate>;
  if (subject !== undefined) {
    if (!socket.authorized) throw unauthorized();
    return authenticated(String(subject.CN), subject.O === undefined ? [] : [subject.O].flat());
  }
  const { authorization } = request.headers;
  if (authorization === undefined) return ANONYMOUS;
  const known = tokens.get(authorization.replace(/^Bearer /, ''));
  if (known === undefined) throw unauthorized();
  return authenticated(known.username, known.groups);
}

/**
 * Administrators may do everything, others may look at all but Secrets, and whoever shows nothing gets what is public.
 *
 * @throws ApiFailure for what is not allowed, in the words of a real API server.
 */
export function authorize({ username, groups }: Identity, call: ApiCall): void {
  if (groups.includes(ADMINISTRATORS) || PUBLIC_PATHS.includes(call.path)) return;
  const { verb, resource, path } = call;
  const isRead = ['read', 'get', 'list', 'watch'].includes(verb);
  const isAboutSelf = resource?.kind === 'SelfSubjectReview';
  const isKnown = username !== ANONYMOUS.username;
  if (isKnown && resource?.kind !== 'Secret' && (isRead || isAboutSelf)) return;
  const what =
    resource === undefined
      ? `forbidden: User "${username}" cannot get path "${path}"`
      : `${resource.plural} is forbidden: User "${username}" cannot ${verb} resource "${resource.plural}" in API group "${groupOf(resource.apiVersion)}"`;
  throw new ApiFailure(403, 'Forbidden', what);
}

function authenticated(username: string, groups: readonly string[]): Identity {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function unauthorized(): ApiFailure {
  return new ApiFailure(401, 'Unauthorized', 'Unauthorized');
}
