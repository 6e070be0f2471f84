/**
 * Who stands in the way of an apply.
 */
import { isKubeError } from '../kube-error.ts';

/** Somebody else, with the fields that he owns and that we would change. */
export interface ConflictOwner {
  /** As `kubectl-client-side-apply`, `argocd-controller`. */
  readonly manager: string;
  /** As `.spec.replicas`, in the order of the server. */
  readonly fields: readonly string[];
}

/** Of a cause, the one place where a server puts the manager's name: `conflict with "kubectl" using v1 at ...`. */
const MANAGER = /^conflict with ("(?:[^"\\]|\\.)*")/;

/** The owners of the fields for which an apply was refused; none for any other error. */
export function conflictOwners(error: unknown): readonly ConflictOwner[] {
  if (!isKubeError(error, 'Conflict')) return [];
  const owners = new Map<string, string[]>();
  for (const { reason, message = '', field = '' } of error.causes) {
    if (reason !== 'FieldManagerConflict') continue;
    const manager = managerIn(message);
    owners.set(manager, [...(owners.get(manager) ?? []), field]);
  }
  return [...owners].map(([manager, fields]) => ({ manager, fields }));
}

/** The whole sentence if it is not as we know it: better than no name. */
function managerIn(message: string): string {
  const [, quoted] = MANAGER.exec(message) ?? [];
  if (quoted === undefined) return message;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1); // quoted by Go, whose escapes are a few more than those of JSON
  }
}
