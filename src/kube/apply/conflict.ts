/**
 * The field managers that an apply conflicts with.
 */
import { isKubeError } from '../kube-error.ts';

/** Another field manager, with the fields that it owns and that the apply would change. */
export interface ConflictOwner {
  /** For example `kubectl-client-side-apply` or `argocd-controller`. */
  readonly manager: string;
  /** For example `.spec.replicas`, in the order of the server. */
  readonly fields: readonly string[];
}

/**
 * Matches the manager's name in the message of a cause, the only place that has it: `conflict with "kubectl" using v1
 * at ...`.
 */
const MANAGER = /^conflict with ("(?:[^"\\]|\\.)*")/;

/** Returns the owners of the fields for which an apply was rejected, or an empty list for any other error. */
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

/** Returns the manager's name, or the whole message if its format is unknown. */
function managerIn(message: string): string {
  const [, quoted] = MANAGER.exec(message) ?? [];
  if (quoted === undefined) return message;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1); // Go's quoting has a few more escapes than JSON
  }
}
