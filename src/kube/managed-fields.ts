/**
 * Trims `metadata.managedFields`. In full, they are often half of an object, and more in memory, since each field is an
 * object there.
 */
import type { KubeObject } from './object.ts';

/** Returns the object with only the top-level fields of each entry of managedFields. */
export function withShallowManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const shallow = managedFields.map(({ fieldsV1 = {}, ...entry }) => ({
    ...entry,
    fieldsV1: Object.fromEntries(Object.keys(fieldsV1).map((field) => [field, WRITTEN])),
  }));
  return { ...object, metadata: { ...object.metadata, managedFields: shallow } };
}

/** Shared by all fields, so that it takes no memory. */
const WRITTEN = Object.freeze({});
