/**
 * Validation of the metadata of any object in a file, which no API server has validated.
 */
import * as z from 'zod';
import { faultsOf, sentenceOf, type Fault } from './fault.ts';

const text = z.string().optional();
const texts = z.record(z.string(), z.string()).optional();
const mapping = z.record(z.string(), z.unknown());

const objectSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: text,
    uid: text,
    resourceVersion: text,
    creationTimestamp: text,
    deletionTimestamp: text,
    labels: texts,
    annotations: texts,
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z
      .array(z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }))
      .optional(),
    managedFields: z
      .array(
        z.looseObject({
          manager: text,
          operation: text,
          subresource: text,
          fieldsV1: mapping.optional(),
        }),
      )
      .optional(),
  }),
});

/** Returns the faults of metadata fields with a wrong type, among those that Snicket reads. */
export function metadataFaults(object: unknown): readonly Fault[] {
  const { error } = objectSchema.safeParse(object, { error: sentenceOf });
  return error === undefined ? [] : faultsOf(error.issues);
}
