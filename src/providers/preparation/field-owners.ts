/**
 * Who owns a field, as `metadata.managedFields` has it.
 */
import type { KubeObject, ManagedFields } from '../../kube/object.ts';
import type { FieldPath } from './preparation.ts';

/** Our name among managers. */
export const OWN_MANAGER = 'snicket';

/** The entries of others that own this very field. */
export function otherOwners(
  { metadata }: Pick<KubeObject, 'metadata'>,
  path: FieldPath,
): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1 }) => manager !== OWN_MANAGER && owns(fieldsV1, path),
  );
}

/** Whether we own this very field, by apply or by a patch. */
export function isOwned({ metadata }: Pick<KubeObject, 'metadata'>, path: FieldPath): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, fieldsV1 }) => manager === OWN_MANAGER && owns(fieldsV1, path),
  );
}

/** The fields that we own by apply. */
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

/** The patch that leaves these owners. The API server takes an empty list for no change, and one empty entry for no owner. */
export function ownersPatch(
  { resourceVersion }: KubeObject['metadata'],
  owners: readonly ManagedFields[],
): object {
  const managedFields = owners.length === 0 ? [{}] : owners;
  return { metadata: { resourceVersion, managedFields } };
}

/**
 * The entries, with these fields taken out of what we own by apply: one that is left out of the next apply stays then,
 * though nobody else owns it. What has no owner may well be somebody's: a list of entries can be reset or lost, and a
 * value that was put back has none.
 */
export function released(
  entries: readonly ManagedFields[],
  paths: readonly FieldPath[],
): readonly ManagedFields[] {
  return entries.flatMap((entry) => {
    const { manager, operation, subresource, fieldsV1 } = entry;
    if (manager !== OWN_MANAGER || subresource !== undefined || fieldsV1 === undefined)
      return entry;
    // A patch of ours puts values back, which are not ours then.
    if (operation !== 'Apply') return [];
    const left = paths.reduce<Owned>(without, fieldsV1);
    return Object.keys(left).length === 0 ? [] : { ...entry, fieldsV1: left };
  });
}

type Owned = Readonly<Record<string, unknown>>;

/** A block that is empty afterwards goes too: as a leaf it would be the whole block that is owned. */
function without(fields: Owned, [name, ...rest]: FieldPath): Owned {
  if (name === undefined) return {};
  const step = `f:${name}`;
  const inner = Object.hasOwn(fields, step) ? fields[step] : undefined;
  if (typeof inner !== 'object' || inner === null) return fields;
  const left = without(inner as Owned, rest);
  const isEmpty = Object.keys(left).length === 0;
  // Whoever owns the block itself, written as a dot, takes away all that is in it.
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([key]) => key !== '.' && !(key === step && isEmpty))
      .map(([key, value]) => [key, key === step ? left : value] as const),
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
