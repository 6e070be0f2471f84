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
  matching(
    SUBDOMAIN_PATTERN,
    '"{self}" is no name of an object; write lower-case letters, digits, dashes and dots',
  ),
);

/** Returns the schema of a non-empty list without duplicates. */
export function setOf<S extends z.ZodType<string>>(item: S, max: number) {
  return z
    .array(item)
    .min(1)
    .max(max)
    .superRefine((list, context) => {
      const twice = list.findIndex((value, index) => list.indexOf(value) !== index);
      if (twice < 0) return;
      const message = `"${list[twice]}" is listed twice; remove one`;
      context.addIssue({ code: 'custom', message, path: [twice] });
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
      const twice = values.findIndex((value, index) => values.indexOf(value) !== index);
      if (twice < 0) return;
      const message = `two entries have the ${key} "${values[twice]}"; make one of them`;
      context.addIssue({ code: 'custom', message, path: [twice] });
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
      context.addIssue({ code: 'custom', message: `${length} entries; write ${max} or less` });
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
    sentence: '"{string(self)}" is no quantity; write one such as 10m, "0.5", 32Mi or 1Gi',
  }).meta({ 'x-kubernetes-int-or-string': true, maxLength: 32 }),
  16,
);

/** The schema of a timestamp. */
export const time = z.iso.datetime({ offset: true });

/** The schema of a condition. */
export const condition = z.object({
  type: z.string().max(316).describe('What is claimed, such as Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is the case.'),
  reason: z.string().min(1).max(1024).describe('Why, as a stable code for programs.'),
  message: z.string().max(32_768).describe('Why, as a sentence for people, with the way out.'),
  lastTransitionTime: time.describe('When the status last changed.'),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('The metadata.generation that the claim is about.'),
});

/** The schema of the conditions of a status. */
export const conditions = mapBy('type', condition, 16);
