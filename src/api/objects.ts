/**
 * Edges, Exposures and TenantRoutes as whole objects: from values that somebody wrote to values that can be trusted.
 */
import * as z from 'zod';
import { edgeSpec, edgeStatus, type Edge } from './edge.ts';
import { exposureStatus } from './exposure-status.ts';
import { exposureSpec, type Exposure } from './exposure.ts';
import { faultsOf, InvalidObjectError, sentenceOf } from './fault.ts';
import { tenantRouteSpec, type TenantRoute } from './tenant-route.ts';
import { LABEL_PATTERN } from './values/name-patterns.ts';
import { pattern, withRules, type Rule } from './values/rule.ts';

/** Of both kinds. */
const API_VERSION = 'snicket.dev/v1alpha1';

const apiVersion = z
  .literal(API_VERSION)
  .describe('The version of this representation: snicket.dev/v1alpha1.');

const texts = z.record(z.string(), z.string()).optional();

/** What is looked at of the metadata. The rest is the API server's affair, and stays as it is. */
const metadata = z.looseObject({
  name: z.string().max(253).describe('The name of the object.'),
  labels: texts,
  annotations: texts,
});

const METADATA = "The object's name, labels and annotations.";

const namePattern = pattern(LABEL_PATTERN);

/** Names go into values of labels, which have 63 characters, and into names of Services, which have no dots. */
const goodName: Rule<{ readonly metadata: { readonly name: string } }> = {
  cel: namePattern.cel('self.metadata.name'),
  holds: (object) => namePattern.matches(object.metadata.name),
  sentence:
    'the name "{self.metadata.name}" is not usable; write up to 63 lower-case letters, digits and dashes',
  field: ['metadata', 'name'],
};

// A status that cannot be read counts as none: it is a report, and whoever writes it writes it anew. Otherwise an
// Exposure could not be served because of what a newer version said about it.

/** An Edge. */
export const edgeObject = withRules(
  z.strictObject({
    apiVersion,
    kind: z.literal('Edge').describe('Edge.'),
    metadata: metadata.describe(METADATA),
    spec: edgeSpec.describe('What is wanted.'),
    status: edgeStatus.optional().catch(undefined).describe('What became of it.'),
  }),
  goodName,
);

/** An Exposure. */
export const exposureObject = withRules(
  z.strictObject({
    apiVersion,
    kind: z.literal('Exposure').describe('Exposure.'),
    metadata: metadata.extend({ namespace: z.string().min(1) }).describe(METADATA),
    spec: exposureSpec.describe('What is wanted.'),
    status: exposureStatus.optional().catch(undefined).describe('What became of it.'),
  }),
  goodName,
);

/** A TenantRoute. */
export const tenantRouteObject = z.strictObject({
  apiVersion,
  kind: z.literal('TenantRoute').describe('TenantRoute.'),
  metadata: metadata.extend({ namespace: z.string().min(1) }).describe(METADATA),
  spec: tenantRouteSpec.describe('Desired state.'),
});

// From an API server, a field that is not known here is one that a newer definition has, and was checked by it: an
// operator that is not updated yet serves the rest. In a file of a user it is a mistake.

/** The Edge in an answer of an API server, with defaults filled in. @throws InvalidObjectError with all that is wrong. */
export function parseEdge(value: unknown): Edge {
  return parseKnown(edgeObject, 'Edge', value);
}

/** The Edge in a file, which has no unknown fields. @throws InvalidObjectError with all that is wrong. */
export function parseEdgeStrictly(value: unknown): Edge {
  return parse(edgeObject, 'Edge', withoutNulls(value));
}

/** The Exposure in an answer of an API server, with defaults. @throws InvalidObjectError with all that is wrong. */
export function parseExposure(value: unknown): Exposure {
  // The rules leave exactly one source of a control plane, which the schema's own type cannot say.
  return parseKnown(exposureObject, 'Exposure', value) as Exposure;
}

/** The Exposure in a file, which has no unknown fields. @throws InvalidObjectError with all that is wrong. */
export function parseExposureStrictly(value: unknown): Exposure {
  return parse(exposureObject, 'Exposure', withoutNulls(value)) as Exposure;
}

/** The TenantRoute in an answer of an API server. @throws InvalidObjectError with all that is wrong. */
export function parseTenantRoute(value: unknown): TenantRoute {
  return parseKnown(tenantRouteObject, 'TenantRoute', value);
}

function parse<S extends z.ZodType>(schema: S, kind: string, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: sentenceOf });
  if (parsed.success) return parsed.data;
  throw new InvalidObjectError(nameText(kind, value), faultsOf(parsed.error.issues));
}

/** The same, of the fields that are known. */
function parseKnown<S extends z.ZodType>(schema: S, kind: string, value: unknown): z.output<S> {
  const copy = withoutNulls(value);
  const { success, data, error } = schema.safeParse(copy);
  if (success) return data;
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') removeFields(copy, issue);
  }
  return parse(schema, kind, copy);
}

function removeFields(
  value: unknown,
  { path, keys }: Pick<z.core.$ZodIssueUnrecognizedKeys, 'path' | 'keys'>,
): void {
  const parent = path.reduce((at, key) => (at as Record<PropertyKey, unknown>)[key], value);
  for (const key of keys) delete (parent as Record<string, unknown>)[key];
}

/** `worker:` with nothing below it is null in YAML; the API server takes such a field for one that is not there. A copy. */
export function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field)]),
  );
}

/** As far as the value has a name. */
function nameText(kind: string, value: unknown): string {
  const { namespace, name } = (value as Partial<Exposure> | null | undefined)?.metadata ?? {};
  return [kind, [namespace, name].filter((part) => typeof part === 'string').join('/')]
    .filter((part) => part !== '')
    .join(' ');
}
