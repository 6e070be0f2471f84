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

/**
 * The entries, with these fields taken out of what we own by apply: one that is left out of the next apply stays then,
 * though nobody else owns it. What has no owner may well be somebody's: a list of entries can be reset or lost, and a
 * value that was put back has none.
 */
export function released(
  entries: readonly ManagedFields[],
  paths: readonly FieldPath[],
): readonly ManagedFields[] {
  return entries.map((entry) => {
    const { manager, operation, fieldsV1 } = entry;
    if (manager !== OWN_MANAGER || operation !== 'Apply' || fieldsV1 === undefined) return entry;
    return { ...entry, fieldsV1: paths.reduce<Owned>(without, fieldsV1) };
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
