/**
 * Recorded writes as changes, object by object and field by field, without what only Snicket itself needs to know. Pure.
 */
import { APPLIED_ANNOTATION } from '../kube/apply/needs-apply.ts';
import { comparisons } from '../kube/apply/differences.ts';
import type { RecordedWrite } from '../kube/client/recording-client.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { groupOf } from '../kube/resource.ts';
import { fieldsOf, type FieldChange, type ObjectChange } from '../plan/changes.ts';
import { withoutSecrets } from '../plan/render.ts';

/** The API server maintains these, or Snicket does as bookkeeping. */
const IGNORED =
  /^(?:status|metadata\.(?:resourceVersion|generation|managedFields|uid|creationTimestamp|finalizers))(?:$|[.[])|^spec\.renewTime$/;

/** The changes, in the order of the first write to each object. Writes that cancel each other out are none. */
export function recordedChanges(writes: readonly RecordedWrite[]): readonly ObjectChange[] {
  return [...Map.groupBy(writes, identity).values()].flatMap(changeBy);
}

function changeBy(writes: readonly RecordedWrite[]): readonly ObjectChange[] {
  const before = writes[0]?.before;
  const after = writes.at(-1)?.after;
  const rest = { fields: [], waits: false };
  if (before === undefined) {
    return after === undefined ? [] : [{ action: 'create', object: after, ...rest }];
  }
  // An object with finalizers of others stays until they are gone.
  const isDeleted = after === undefined || (isDeleting(after) && !isDeleting(before));
  if (isDeleted) return [{ action: 'delete', object: before, ...rest }];
  const fields = mergedFields(writes.flatMap(fieldsBy));
  return fields.length === 0 ? [] : [{ action: 'change', object: after, fields, waits: false }];
}

function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function fieldsBy({ before, after, applied }: RecordedWrite): readonly FieldChange[] {
  if (before === undefined || after === undefined) return [];
  const whole = applied && withoutHash(applied);
  if (whole !== undefined) return shown(fieldsOf(whole, before));
  const fields =
    applied === undefined
      ? differences(withoutSecrets(before), withoutSecrets(after))
      : fieldsOf(applied, before);
  return shown(fields.flatMap(leafFields));
}

function shown(fields: readonly FieldChange[]): readonly FieldChange[] {
  return fields.filter(({ path }) => !IGNORED.test(path));
}

/** An object of Snicket without the hash of what was applied. Undefined: the object is another's, and a part of it was applied. */
function withoutHash(object: KubeObject): KubeObject | undefined {
  const { [APPLIED_ANNOTATION]: hash, ...annotations } = object.metadata.annotations ?? {};
  if (hash === undefined) return undefined;
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** A new map, field by field: in an object of another, only these are Snicket's. */
function leafFields(field: FieldChange): readonly FieldChange[] {
  const { path, from, to } = field;
  const isMap = typeof to === 'object' && to !== null && !Array.isArray(to);
  if (from !== undefined || !isMap) return [field];
  return Object.entries(to).flatMap(([name, value]) =>
    leafFields({ path: `${path}.${name}`, to: value as unknown }),
  );
}

function differences(before: KubeObject, after: KubeObject): readonly FieldChange[] {
  return [
    ...comparisons(after, before).map(({ path, found, wanted }) => change(path, found, wanted)),
    ...comparisons(before, after)
      .filter(({ found }) => found === undefined)
      .map(({ path, wanted }) => change(path, wanted, undefined)),
  ];
}

function change(path: string, from: unknown, to: unknown): FieldChange {
  return {
    path: path.slice(1),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** One change for each path, from the first value to the last. */
function mergedFields(fields: readonly FieldChange[]): readonly FieldChange[] {
  return [...Map.groupBy(fields, ({ path }) => path)].flatMap(([path, all]) => {
    const { from } = all[0] ?? {};
    const { to } = all.at(-1) ?? {};
    return Bun.deepEquals(from, to) ? [] : change(`.${path}`, from, to);
  });
}

/** A kind that is served in several versions is one kind. */
function identity({ resource, before, after }: RecordedWrite): string {
  const { metadata } = (before ?? after) as KubeObject;
  return `${groupOf(resource.apiVersion)} ${resource.kind} ${keyText(metadata)}`;
}
