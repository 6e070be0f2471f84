/**
 * What keeps the operator from knowing its management cluster. Pure.
 */
import type { InformerState } from '../../kube/informer/informer.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { groupOf, RESOURCES, type Resource } from '../../kube/resource.ts';

/** A kind that is watched, and how that goes. */
export interface WatchedKind {
  readonly resource: Resource;
  readonly state: Pick<InformerState, 'hasSynced' | 'staleSinceMs' | 'lastError'>;
}

/** A watch that was lost comes back within a moment, most of the time; what is known meanwhile is good enough. */
const STALE_MS = 30_000;

/** Why the operator cannot do its work, as a sentence; nothing if it has read all that it must. */
export function readFault(kinds: readonly WatchedKind[], nowMs: number): string | undefined {
  const faulty =
    kinds.find(({ state }) => !state.hasSynced && state.lastError !== undefined) ??
    kinds.find(({ state }) => !state.hasSynced) ??
    kinds.find(({ state }) => state.lastError !== undefined && isStale(state, nowMs));
  if (faulty === undefined) return undefined;
  const { resource, state } = faulty;
  const { lastError } = state;
  if (lastError === undefined) return `${resource.plural} are not read yet`;
  if (lastError.reason === 'NotFound' && isOurOwn(resource)) {
    return `this cluster does not know ${resource.kind}s; kubectl apply -k deploy`;
  }
  return `${resource.plural} cannot be read: ${lastError.message}${remedy(lastError, resource)}`;
}

function isStale({ staleSinceMs }: WatchedKind['state'], nowMs: number): boolean {
  return staleSinceMs !== undefined && nowMs - staleSinceMs >= STALE_MS;
}

function isOurOwn({ apiVersion }: Resource): boolean {
  return groupOf(apiVersion) === groupOf(RESOURCES.exposure.apiVersion);
}

function remedy({ reason }: KubeError, { plural }: Resource): string {
  return reason === 'Forbidden'
    ? `; give Snicket's ClusterRole the verbs get, list and watch on ${plural}`
    : '';
}
