/**
 * The changes that a plan makes in a cluster, by object and field. Pure. An object that an apply would not write has no
 * change, by the same check.
 */
import { appliedHash, APPLIED_ANNOTATION, needsApply } from '../kube/apply/needs-apply.ts';
import { comparisons } from '../kube/apply/differences.ts';
import { removals } from '../kube/apply/removals.ts';
import type { KubeObject } from '../kube/object.ts';
import { withoutSecrets } from './render.ts';

/** A field that an apply changes. */
export interface FieldChange {
  /** The path, such as `spec.ports[0].port`. */
  readonly path: string;
  /** Absent if the field does not exist yet. */
  readonly from?: unknown;
  /** Absent if the apply removes the field. */
  readonly to?: unknown;
}

/** An object that is created, changed or deleted, without the values of Secrets. */
export interface ObjectChange {
  readonly action: 'create' | 'change' | 'delete';
  readonly object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;
  /** The changed fields; empty unless the action is `change`. */
  readonly fields: readonly FieldChange[];
  /** Whether the change is planned, but waits for another step first. */
  readonly waits: boolean;
}

/** Returns the change from `live` to `desired`; none if an apply would write nothing. */
export function changeOf(
  desired: KubeObject,
  live: KubeObject | undefined,
  waits: boolean,
): readonly ObjectChange[] {
  if (live === undefined) return [{ action: 'create', object: desired, fields: [], waits }];
  if (!needsApply(desired, live)) return [];
  return [{ action: 'change', object: desired, fields: fieldsOf(desired, live), waits }];
}

/** Returns the fields of `live` that an apply of `desired` changes. */
export function fieldsOf(desired: KubeObject, live: KubeObject): readonly FieldChange[] {
  const [wanted, present] = [withoutSecrets(desired), withoutSecrets(live)];
  const differing = comparisons(wanted, present);
  const known = new Set(differing.map(({ path }) => path));
  const removed = removals(wanted, present).filter(({ path }) => !known.has(path));
  const found = [
    ...differing.map(({ path, found: from, wanted: to }) => change(path, from, to)),
    ...removed.map(({ path, found: from }) => change(path, from)),
  ];
  if (found.length > 0) return found;
  // The live object equals the desired one, but the hash of the last apply is missing or that of another desired state.
  const before = live.metadata.annotations?.[APPLIED_ANNOTATION];
  return [change(`.metadata.annotations.${APPLIED_ANNOTATION}`, before, appliedHash(desired))];
}

function change(path: string, from: unknown, to?: unknown): FieldChange {
  return {
    path: path.slice(1),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}
