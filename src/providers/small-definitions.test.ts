/**
 * Compares the reduced CRDs for tests with the real ones, where these are available. Everything in a reduced CRD must
 * be the same in the real one, so that an API server accepts the same objects with both.
 */
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  readDefinition,
  REAL_DEFINITIONS,
  smallDefinitions,
  type DefinedField,
  type DefinedVersion,
} from './testing/definitions.ts';

/** Returns the properties of a field, without its children. */
function traitsOf(field: DefinedField): object {
  return {
    type: field.type ?? 'any',
    required: (field.required ?? []).toSorted(),
    list: field.items === undefined ? 'none' : (field['x-kubernetes-list-type'] ?? 'atomic'),
    isFree: field['x-kubernetes-preserve-unknown-fields'] ?? false,
  };
}

/** Returns a value as a CRD with only these fields would prune it. */
function prunedTo(field: DefinedField, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || field.properties === undefined) return value;
  const { properties } = field;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return known === undefined ? [] : [[name, prunedTo(known, inner)]];
    }),
  );
}

/** Returns the differences between the reduced and the real CRD. */
function differences(small: DefinedField, real: DefinedField | undefined, path = ''): string[] {
  if (real === undefined) return [`${path} is not there`];
  const differs = (keyword: string, reduced: unknown, actual: unknown) =>
    Bun.deepEquals(reduced, actual)
      ? []
      : [
          `${path}: ${keyword} is ${JSON.stringify(reduced)}, and ${JSON.stringify(actual)} in the real CRD`,
        ];
  return [
    ...differs('it', traitsOf(small), traitsOf(real)),
    ...differs('the default', small.default, prunedTo(small, real.default)),
    ...Object.entries(small.properties ?? {}).flatMap(([name, field]) =>
      differences(field, real.properties?.[name], `${path}.${name}`),
    ),
    ...(small.items === undefined ? [] : differences(small.items, real.items, `${path}[]`)),
  ];
}

/** Returns the schema of a version without status, which controllers write. */
function specOf({ schema }: DefinedVersion): DefinedField {
  const { properties: { status: _status, ...properties } = {}, ...rest } = schema.openAPIV3Schema;
  return { ...rest, properties };
}

describe.each(smallDefinitions().map((path) => [basename(path), path] as const))(
  '%s',
  (name, path) => {
    const real = join(REAL_DEFINITIONS, name);
    const { metadata, spec } = readDefinition(path);

    test('is named after its group and kind', () => {
      expect(metadata.name).toBe(`${spec.names.plural}.${spec.group}`);
      expect(name).toBe(`${spec.group}_${spec.names.plural}.yaml`);
    });

    test.skipIf(!existsSync(real))('does not differ from the real definition', () => {
      const { spec: truth } = readDefinition(real);

      expect(spec.scope).toBe(truth.scope);
      for (const version of spec.versions) {
        const same = truth.versions.find((candidate) => candidate.name === version.name);
        expect(same?.subresources?.status).toEqual(version.subresources?.status);
        expect(differences(specOf(version), same && specOf(same))).toEqual([]);
      }
    });
  },
);
