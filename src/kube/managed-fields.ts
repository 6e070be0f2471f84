/**
 * Who wrote an object, as `metadata.managedFields` has it. Whole, that is often the half of an object, and in memory more:
 * each field that anybody has set is an object of its own there.
 */
import type { KubeObject } from './object.ts';

/** The object with no more of it than who wrote which of the topmost fields, and when. */
export function withShallowManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const shallow = managedFields.map(({ fieldsV1 = {}, ...entry }) => ({
    ...entry,
    fieldsV1: Object.fromEntries(Object.keys(fieldsV1).map((field) => [field, WRITTEN])),
  }));
  return { ...object, metadata: { ...object.metadata, managedFields: shallow } };
}

/** The same for all of them, so that it costs nothing. */
const WRITTEN = Object.freeze({});
