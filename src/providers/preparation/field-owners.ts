/**
 * Field ownership, from `metadata.managedFields`.
 */
import type { KubeObject, ManagedFields } from '../../kube/object.ts';
import type { FieldPath } from './preparation.ts';

/** The name of Snicket's field manager. */
export const OWN_MANAGER = 'snicket';

/** Returns the entries of other field managers that own this field. */
export function otherOwners(
  { metadata }: Pick<KubeObject, 'metadata'>,
  path: FieldPath,
): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1 }) => manager !== OWN_MANAGER && owns(fieldsV1, path),
  );
}

/** Reports whether Snicket owns this field, by an apply or a patch. */
export function isOwned({ metadata }: Pick<KubeObject, 'metadata'>, path: FieldPath): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, fieldsV1 }) => manager === OWN_MANAGER && owns(fieldsV1, path),
  );
}

/** Returns the fields that Snicket owns by apply. */
export function appliedPaths({ metadata }: Pick<KubeObject, 'metadata'>): readonly FieldPath[] {
  return (metadata.managedFields ?? [])
    .filter(
      ({ manager, operation, subresource }) =>
        manager === OWN_MANAGER && operation === 'Apply' && subresource === undefined,
    )
    .flatMap(({ fieldsV1 }) => pathsIn(fieldsV1, []));
}

function pathsIn(fields: unknown, path: FieldPath): readonly FieldPath[] {
  const names = Object.keys(fields ?? {}).filter((name) => name.startsWith('f:'));
  if (names.length === 0) return path.length === 0 ? [] : [path];
  return names.flatMap((name) =>
    pathsIn((fields as Readonly<Record<string, unknown>>)[name], [...path, name.slice(2)]),
  );
}

/**
 * Returns the patch that sets these entries. The API server ignores an empty list, and takes one empty entry for no
 * entries.
 */
export function ownersPatch(
  { resourceVersion }: KubeObject['metadata'],
  owners: readonly ManagedFields[],
): object {
  const managedFields = owners.length === 0 ? [{}] : owners;
  return { metadata: { resourceVersion, managedFields } };
}

/**
 * Returns the entries without Snicket's ownership of these fields. The next apply then keeps them although it does not
 * contain them. This also protects fields without another owner, which may still belong to a user: managedFields can be
 * reset or lost, and a restored value has no owner.
 */
export function released(
  entries: readonly ManagedFields[],
  paths: readonly FieldPath[],
): readonly ManagedFields[] {
  return entries.flatMap((entry) => {
    const { manager, operation, subresource, fieldsV1 } = entry;
    if (manager !== OWN_MANAGER || subresource !== undefined || fieldsV1 === undefined)
      return entry;
    // Snicket only patches fields to restore values, which it does not own.
    if (operation !== 'Apply') return [];
    const remaining = paths.reduce<Owned>(without, fieldsV1);
    return Object.keys(remaining).length === 0 ? [] : { ...entry, fieldsV1: remaining };
  });
}

type Owned = Readonly<Record<string, unknown>>;

/**
 * Removes a field from a set of owned fields. It also removes parents that are empty afterwards, because a parent
 * without children means ownership of the whole parent.
 */
function without(fields: Owned, [name, ...rest]: FieldPath): Owned {
  if (name === undefined) return {};
  const step = `f:${name}`;
  const inner = Object.hasOwn(fields, step) ? fields[step] : undefined;
  if (typeof inner !== 'object' || inner === null) return fields;
  const remaining = without(inner as Owned, rest);
  const isEmpty = Object.keys(remaining).length === 0;
  // The key `.` means ownership of the parent itself: the next apply would remove everything in it.
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([key]) => key !== '.' && !(key === step && isEmpty))
      .map(([key, value]) => [key, key === step ? remaining : value] as const),
  );
}

function owns(fields: unknown, path: FieldPath): boolean {
  let at = fields;
  for (const name of path) {
    const step = `f:${name}`;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return true;
}
