/**
 * Parsers for Edges, Exposures and TenantRoutes: from untrusted values to validated objects with defaults.
 */
import * as z from 'zod';
import { edgeSpec, edgeStatus, type Edge } from './edge.ts';
import { exposureStatus } from './exposure-status.ts';
import { exposureSpec, type Exposure } from './exposure.ts';
import { faultsOf, InvalidObjectError, sentenceOf } from './fault.ts';
import { tenantRouteSpec, type TenantRoute } from './tenant-route.ts';
import { LABEL_PATTERN } from './values/name-patterns.ts';
import { pattern, withRules, type Rule } from './values/rule.ts';

/** The apiVersion of all snicket.dev kinds. */
const API_VERSION = 'snicket.dev/v1alpha1';

const apiVersion = z.literal(API_VERSION).describe('apiVersion is snicket.dev/v1alpha1.');

const texts = z.record(z.string(), z.string()).optional();

/**
 * The metadata fields that Snicket reads. The API server validates the others, and the parsers keep them as they are.
 */
const metadata = z.looseObject({
  name: z.string().max(253).describe('name is the name of the object.'),
  labels: texts,
  annotations: texts,
});

const METADATA = 'metadata is the standard metadata of an object.';

const namePattern = pattern(LABEL_PATTERN);

/** Names become label values, which have at most 63 characters, and names of Services, which have no dots. */
const nameRule: Rule<{ readonly metadata: { readonly name: string } }> = {
  cel: namePattern.cel('self.metadata.name'),
  holds: (object) => namePattern.matches(object.metadata.name),
  sentence:
    'invalid name "{self.metadata.name}": must be a lowercase RFC 1123 label of at most 63 characters',
  field: ['metadata', 'name'],
};

// An unreadable status counts as absent: status is a report, and its controller writes it again. Otherwise a status
// from a newer version would prevent the operator from serving an Exposure.

/** The schema of an Edge. */
export const edgeObject = withRules(
  z.strictObject({
    apiVersion,
    kind: z.literal('Edge').describe('kind is Edge.'),
    metadata: metadata.describe(METADATA),
    spec: edgeSpec.describe('spec is the desired state of the Edge.'),
    status: edgeStatus
      .optional()
      .catch(undefined)
      .describe('status is the observed state of the Edge.'),
  }),
  nameRule,
);

/** The schema of an Exposure. */
export const exposureObject = withRules(
  z.strictObject({
    apiVersion,
    kind: z.literal('Exposure').describe('kind is Exposure.'),
    metadata: metadata.extend({ namespace: z.string().min(1) }).describe(METADATA),
    spec: exposureSpec.describe('spec is the desired state of the Exposure.'),
    status: exposureStatus
      .optional()
      .catch(undefined)
      .describe('status is the observed state of the Exposure.'),
  }),
  nameRule,
);

/** The schema of a TenantRoute. */
export const tenantRouteObject = z.strictObject({
  apiVersion,
  kind: z.literal('TenantRoute').describe('kind is TenantRoute.'),
  metadata: metadata.extend({ namespace: z.string().min(1) }).describe(METADATA),
  spec: tenantRouteSpec.describe('spec is the desired state of the TenantRoute.'),
});

// In a response of the API server, an unknown field belongs to a newer CRD, which has validated it. An operator that is
// not updated yet ignores it and serves the rest. In a user's file, an unknown field is a mistake.

/** Parses an Edge in a response of the API server, with defaults. @throws InvalidObjectError with all faults. */
export function parseEdge(value: unknown): Edge {
  return parseKnown(edgeObject, 'Edge', value);
}

/** Parses an Edge in a file and rejects unknown fields. @throws InvalidObjectError with all faults. */
export function parseEdgeStrictly(value: unknown): Edge {
  return parse(edgeObject, 'Edge', withoutNulls(value));
}

/** Parses an Exposure in a response of the API server, with defaults. @throws InvalidObjectError with all faults. */
export function parseExposure(value: unknown): Exposure {
  // The rules guarantee exactly one source of a control plane. The type of the schema cannot express that.
  return parseKnown(exposureObject, 'Exposure', value) as Exposure;
}

/** Parses an Exposure in a file and rejects unknown fields. @throws InvalidObjectError with all faults. */
export function parseExposureStrictly(value: unknown): Exposure {
  return parse(exposureObject, 'Exposure', withoutNulls(value)) as Exposure;
}

/** Parses a TenantRoute in a response of the API server. @throws InvalidObjectError with all faults. */
export function parseTenantRoute(value: unknown): TenantRoute {
  return parseKnown(tenantRouteObject, 'TenantRoute', value);
}

function parse<S extends z.ZodType>(schema: S, kind: string, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: sentenceOf });
  if (parsed.success) return parsed.data;
  throw new InvalidObjectError(nameText(kind, value), faultsOf(parsed.error.issues));
}

/** Parses the known fields and ignores the unknown ones. */
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

/**
 * Returns a copy without null fields: `worker:` with nothing below it is null in YAML, and the API server treats such a
 * field as absent.
 */
export function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field)]),
  );
}

/** Returns the kind, with the namespace and name if the value has them. */
function nameText(kind: string, value: unknown): string {
  const { namespace, name } = (value as Partial<Exposure> | null | undefined)?.metadata ?? {};
  return [kind, [namespace, name].filter((part) => typeof part === 'string').join('/')]
    .filter((part) => part !== '')
    .join(' ');
}
