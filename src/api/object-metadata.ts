/**
 * The metadata of any object, as somebody has written it into a file: an API server would look at it before anybody else.
 */
import * as z from 'zod';
import { faultsOf, sentenceOf, type Fault } from './fault.ts';

const text = z.string().optional();
const texts = z.record(z.string(), z.string()).optional();
const mapping = z.record(z.string(), z.unknown());

const named = z.looseObject({
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

/** What is of another type there than anybody who reads it may take for granted. */
export function metadataFaults(object: unknown): readonly Fault[] {
  const { error } = named.safeParse(object, { error: sentenceOf });
  return error === undefined ? [] : faultsOf(error.issues);
}
