import { describe, expect, test } from 'bun:test';
import { definitionOf, KINDS, type StructuralSchema } from './definition.ts';
import { CEL_RULES } from '../values/rule.ts';

/** Yields a schema and all of its subschemas, each with its path. */
function* walk(schema: StructuralSchema, path: string): Generator<[string, StructuralSchema]> {
  yield [path, schema];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield* walk(field, `${path}.${name}`);
  }
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') {
    yield* walk(schema.additionalProperties, `${path}{}`);
  }
}

describe.each(KINDS.map((kind) => [kind.resource.kind, kind] as const))('%s', (name, kind) => {
  const definition = definitionOf(kind);
  const [version] = definition.spec.versions;
  const root = version!.schema.openAPIV3Schema;
  const nodes = [...walk(root, name)];

  /** The paths of the schemas that do not meet the predicate. */
  const pathsOfInvalid = (isValid: (schema: StructuralSchema, path: string) => boolean) =>
    nodes.filter(([path, schema]) => !isValid(schema, path)).map(([path]) => path);

  test('describes every field in sentences that start with its name', () => {
    const isSentence = (text: string, path: string) =>
      text.endsWith('.') &&
      (path === name ? /^An? /.test(text) : text.startsWith(`${path.split('.').at(-1)} `));
    // The API server defines the schema of metadata itself and accepts no other description.
    const undescribed = pathsOfInvalid(
      ({ description }, path) =>
        /(\[\]|\{\}|\.metadata)$/.test(path) || isSentence(description ?? '', path),
    );

    expect(undescribed).toEqual([]);
  });

  test('gives every value a type, and every string, list and map a limit', () => {
    const isEnum = ({ enum: values }: StructuralSchema) => values !== undefined;
    const unlimited = pathsOfInvalid((schema, path) => {
      if (schema['x-kubernetes-int-or-string'] === true) return schema.maxLength !== undefined;
      if (schema.type === 'array') return schema.maxItems !== undefined;
      if (schema.additionalProperties !== undefined) return schema.maxProperties !== undefined;
      if (schema.type !== 'string') return schema.type !== undefined;
      const isKnown = /^\w+\.(apiVersion|kind)$/.test(path);
      return (
        isKnown || isEnum(schema) || schema.format !== undefined || schema.maxLength !== undefined
      );
    });

    expect(unlimited).toEqual([]);
  });

  test('has a structural schema', () => {
    const forbidden = pathsOfInvalid(
      (schema) =>
        !['oneOf', 'anyOf', 'allOf', 'not', '$ref', 'readOnly', 'nullable'].some(
          (key) => key in schema,
        ) &&
        (schema.properties === undefined || schema.additionalProperties === undefined) &&
        schema.minimum !== Number.MIN_SAFE_INTEGER &&
        schema.maximum !== Number.MAX_SAFE_INTEGER,
    );

    expect(forbidden).toEqual([]);
  });

  test('has validation rules in the spec only, since only Snicket writes the status', () => {
    const ruled = nodes.filter(([, schema]) => CEL_RULES in schema).map(([path]) => path);

    expect(ruled.length).toBeGreaterThan(3);
    expect(ruled.filter((path) => path.startsWith(`${name}.status`))).toEqual([]);
  });

  test('has conditions as a map keyed by type', () => {
    if (kind.hasStatus === false) {
      expect(root.properties).not.toHaveProperty('status');
      return;
    }
    expect(root.properties?.['status']?.properties?.['conditions']).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });

  test('has printer columns for existing fields', () => {
    for (const { jsonPath } of kind.columns) {
      const place = `${name}${jsonPath.replace(/\[\?.*?\]/, '[]')}`;
      const isKnown = jsonPath.startsWith('.metadata') || nodes.some(([path]) => path === place);
      expect(isKnown, jsonPath).toBeTrue();
    }
  });
});
