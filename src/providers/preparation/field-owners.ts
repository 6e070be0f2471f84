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

function owns(fields: unknown, path: FieldPath): boolean {
  let at = fields;
  for (const name of path) {
    const step = `f:${name}`;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return true;
}
