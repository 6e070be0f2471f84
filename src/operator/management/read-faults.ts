/**
 * Why the operator cannot read its management cluster. Pure.
 */
import type { InformerState } from '../../kube/informer/informer.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { groupOf, RESOURCES, type Resource } from '../../kube/resource.ts';

/** A watched kind, and the state of its informer. */
export interface WatchedKind {
  readonly resource: Resource;
  readonly state: Pick<InformerState, 'hasSynced' | 'staleSinceMs' | 'lastError'>;
}

/** A lost watch usually recovers within a moment. Until then the cached objects are good enough. */
const STALE_MS = 30_000;

/** Why the operator is not ready, as a sentence; undefined if all kinds are read. */
export function readFault(kinds: readonly WatchedKind[], nowMs: number): string | undefined {
  const failed =
    kinds.find(({ state }) => !state.hasSynced && state.lastError !== undefined) ??
    kinds.find(({ state }) => !state.hasSynced) ??
    kinds.find(({ state }) => state.lastError !== undefined && isStale(state, nowMs));
  if (failed === undefined) return undefined;
  const { resource, state } = failed;
  const { lastError } = state;
  if (lastError === undefined) return `${resource.plural} are not read yet`;
  if (lastError.reason === 'NotFound' && isOwnKind(resource)) {
    return `the CRD of ${resource.kind} is not installed; run kubectl apply -k deploy`;
  }
  return `${resource.plural} cannot be read: ${lastError.message}${remedy(lastError, resource)}`;
}

function isStale({ staleSinceMs }: WatchedKind['state'], nowMs: number): boolean {
  return staleSinceMs !== undefined && nowMs - staleSinceMs >= STALE_MS;
}

function isOwnKind({ apiVersion }: Resource): boolean {
  return groupOf(apiVersion) === groupOf(RESOURCES.exposure.apiVersion);
}

function remedy({ reason }: KubeError, { plural }: Resource): string {
  return reason === 'Forbidden'
    ? `; give Snicket's ClusterRole the verbs get, list and watch on ${plural}`
    : '';
}
