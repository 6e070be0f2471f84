/**
 * Schemas for what Snicket's kinds share with those of Kubernetes: object names, lists with keys, quantities,
 * conditions.
 */
import * as z from 'zod';
import { SUBDOMAIN_PATTERN } from './name-patterns.ts';
import { matching, pattern, withRules } from './rule.ts';

/** A type that is readonly at every depth. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The schema of an object name, an RFC 1123 subdomain. */
export const objectName = withRules(
  z.string().max(253),
  matching(SUBDOMAIN_PATTERN, 'invalid name "{self}": must be a lowercase RFC 1123 subdomain'),
);

/** Returns the schema of a non-empty list without duplicates. */
export function setOf<S extends z.ZodType<string>>(item: S, max: number) {
  return z
    .array(item)
    .min(1)
    .max(max)
    .superRefine((list, context) => {
      const duplicate = list.findIndex((value, index) => list.indexOf(value) !== index);
      if (duplicate < 0) return;
      const message = `duplicate value "${list[duplicate]}"`;
      context.addIssue({ code: 'custom', message, path: [duplicate] });
    })
    .meta({ 'x-kubernetes-list-type': 'set' });
}

/** Returns the schema of a list of objects that are unique by a key. */
export function mapBy<Key extends string, S extends z.ZodType<Readonly<Record<Key, string>>>>(
  key: Key,
  item: S,
  max: number,
) {
  return z
    .array(item)
    .max(max)
    .superRefine((list, context) => {
      const values = list.map((entry) => entry[key]);
      const duplicate = values.findIndex((value, index) => values.indexOf(value) !== index);
      if (duplicate < 0) return;
      const message = `duplicate ${key} "${values[duplicate]}"`;
      context.addIssue({ code: 'custom', message, path: [duplicate] });
    })
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
}

/** Returns the schema of a map with at most `max` entries. */
export function mapTo<S extends z.ZodType>(value: S, max: number) {
  return z
    .record(z.string(), value)
    .superRefine((map, context) => {
      const { length } = Object.keys(map);
      if (length <= max) return;
      context.addIssue({
        code: 'custom',
        message: `too many entries (${length}): must have at most ${max}`,
      });
    })
    .meta({ maxProperties: max });
}

const quantityPattern = pattern(
  '^([0-9]+([.][0-9]*)?|[.][0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$',
);

/**
 * The schema of quantities by resource, such as `cpu: 10m`. As everywhere in Kubernetes, an integer needs no quotes.
 */
export const quantities = mapTo(
  withRules(z.union([z.int(), z.string().max(32)]), {
    cel: quantityPattern.cel('string(self)'),
    holds: (value) => quantityPattern.matches(String(value)),
    sentence:
      'invalid quantity "{string(self)}": must be a quantity such as 10m, "0.5", 32Mi or 1Gi',
  }).meta({ 'x-kubernetes-int-or-string': true, maxLength: 32 }),
  16,
);

/** The schema of a timestamp. */
export const time = z.iso.datetime({ offset: true });

/** The schema of a condition. */
const condition = z.object({
  type: z.string().max(316).describe('type is the type of the condition, such as Ready.'),
  status: z
    .enum(['True', 'False', 'Unknown'])
    .describe('status is the status of the condition: True, False or Unknown.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .describe('reason is the reason for the status, as a stable code for programs.'),
  message: z
    .string()
    .max(32_768)
    .describe('message describes the reason for humans, and what to do.'),
  lastTransitionTime: time.describe(
    'lastTransitionTime is the time of the last change of the status.',
  ),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('observedGeneration is the metadata.generation that the condition describes.'),
});

/** The schema of the conditions of a status. */
export const conditions = mapBy('type', condition, 16);
