/**
 * What a plan changes in a cluster, object by object and field by field. Pure. It goes by the same rule as an apply:
 * where that would write nothing, there is no change.
 */
import { appliedHash, APPLIED_ANNOTATION, needsApply } from '../kube/apply/needs-apply.ts';
import { comparisons } from '../kube/apply/differences.ts';
import { removals } from '../kube/apply/removals.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { groupOf } from '../kube/resource.ts';
import { withoutSecrets } from './render.ts';

/** A field that would be another. */
export interface FieldChange {
  /** As `spec.ports[0].port`. */
  readonly path: string;
  /** Absent: there is none yet. */
  readonly from?: unknown;
  /** Absent: there would be none any more. */
  readonly to?: unknown;
}

/** An object that would be made, changed or deleted. No secret is in it. */
export interface ObjectChange {
  readonly action: 'create' | 'change' | 'delete';
  readonly object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;
  /** Of action `change` only. */
  readonly fields: readonly FieldChange[];
  /** Planned, but not to be done before something else is. */
  readonly waits: boolean;
}

/** Objects as they should be and as they are, and those that should not be. */
export interface Comparable {
  readonly wanted: readonly {
    readonly desired: KubeObject;
    readonly live: KubeObject | undefined;
    readonly waits?: boolean;
  }[];
  readonly superfluous: readonly KubeObject[];
  /** Those of the superfluous ones that are not to be deleted before something else is done. Default: none. */
  readonly kept?: readonly KubeObject[];
}

/** The changes, in the order in which they are made. */
export function changesIn({ wanted, superfluous, kept = [] }: Comparable): readonly ObjectChange[] {
  const gone = new Map(superfluous.map((object) => [identity(object), object]));
  const later = new Set(kept.map(identity));
  return [
    ...wanted.flatMap(({ desired, live, waits = false }) => changeOf(desired, live, waits)),
    ...[...gone].map(([key, object]): ObjectChange => ({
      action: 'delete',
      object,
      fields: [],
      waits: later.has(key),
    })),
  ];
}

/** The change from `live` to `desired`; none if an apply would write nothing. */
export function changeOf(
  desired: KubeObject,
  live: KubeObject | undefined,
  waits: boolean,
): readonly ObjectChange[] {
  if (live === undefined) return [{ action: 'create', object: desired, fields: [], waits }];
  if (!needsApply(desired, live)) return [];
  return [{ action: 'change', object: desired, fields: fieldsOf(desired, live), waits }];
}

/** The fields of `live` that an apply of `desired` changes. */
export function fieldsOf(desired: KubeObject, live: KubeObject): readonly FieldChange[] {
  const [wanted, present] = [withoutSecrets(desired), withoutSecrets(live)];
  const differing = comparisons(wanted, present);
  const known = new Set(differing.map(({ path }) => path));
  const gone = removals(wanted, present).filter(({ path }) => !known.has(path));
  const found = [
    ...differing.map(({ path, found: from, wanted: to }) => change(path, from, to)),
    ...gone.map(({ path, found: from }) => change(path, from)),
  ];
  if (found.length > 0) return found;
  // It has all that is wanted and nothing else of ours, but was last applied by another version, or by nobody.
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

/** Of a kind that is served in several versions, an object is found in each. */
function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return `${groupOf(apiVersion)} ${kind} ${keyText(metadata)}`;
}
