/**
 * For tests only: the request log of a test cluster.
 */
import type { ApiCall, Verb } from './api-call.ts';

/** A request that a test cluster received. */
export interface LoggedRequest {
  readonly verb: Verb;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly manager: string | null;
  readonly dryRun: boolean;
}

/** Returns the log entry of a call. */
export function logged({
  verb,
  resource,
  namespace,
  name,
  subresource,
  query,
  path,
}: ApiCall): LoggedRequest {
  const dryRun = query.get('dryRun') === 'All';
  const manager = query.get('fieldManager');
  return { verb, plural: resource?.plural ?? path, namespace, name, subresource, manager, dryRun };
}
