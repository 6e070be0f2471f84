/**
 * A validator for the subset of OpenAPI schemas that the tested objects need. It does not check CEL rules, which need a
 * real API server.
 */

/** A schema. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

/** Returns what is wrong with a value; none if it matches the schema. */
export function schemaFaults(schema: Schema, value: unknown, path = ''): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) {
    const isEither = Number.isInteger(value) || typeof value === 'string';
    return isEither ? [] : [`${path} is not a number or string`];
  }
  switch (schema.type ?? 'none') {
    case 'object':
      return objectFaults(schema, value, path);
    case 'array':
      return listFaults(schema, value, path);
    case 'string':
      return textFaults(schema, value, path);
    case 'integer':
      return numberFaults(schema, value, path);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${path} is not a boolean`];
    default:
      return [`${path} has a schema of type ${schema.type ?? 'none'}, which is not understood`];
  }
}

function objectFaults(schema: Schema, value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path} is not an object`];
  const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(value, key));
  // The API server defines the schema of metadata itself.
  const isOpen = schema.properties === undefined && schema.additionalProperties === undefined;
  const inner = Object.entries(value).flatMap(([key, field]) => {
    const known = schema.properties?.[key] ?? schema.additionalProperties;
    if (known !== undefined) return schemaFaults(known, field, `${path}.${key}`);
    return isOpen ? [] : [`${path}.${key} is not defined`];
  });
  return [...missing.map((key) => `${path}.${key} is missing`), ...inner];
}

function listFaults(schema: Schema, value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) return [`${path} is not a list`];
  const { minItems = 0, maxItems = Infinity, items = {} } = schema;
  return [
    ...(value.length < minItems ? [`${path} has less than ${minItems} items`] : []),
    ...(value.length > maxItems ? [`${path} has more than ${maxItems} items`] : []),
    ...value.flatMap((item, index) => schemaFaults(items, item, `${path}[${index}]`)),
  ];
}

function textFaults(schema: Schema, value: unknown, path: string): readonly string[] {
  if (typeof value !== 'string') return [`${path} is not a string`];
  const { pattern = '', minLength = 0, maxLength = Infinity } = schema;
  return [
    ...(new RegExp(pattern).test(value) ? [] : [`${path} does not match ${pattern}`]),
    ...(value.length < minLength ? [`${path} is shorter than ${minLength}`] : []),
    ...(value.length > maxLength ? [`${path} is longer than ${maxLength}`] : []),
    ...((schema.enum?.includes(value) ?? true)
      ? []
      : [`${path} is not one of ${schema.enum?.join(', ')}`]),
  ];
}

function numberFaults(schema: Schema, value: unknown, path: string): readonly string[] {
  if (!Number.isInteger(value)) return [`${path} is not an integer`];
  const number = Number(value);
  const { minimum = -Infinity, maximum = Infinity } = schema;
  return [
    ...(number < minimum ? [`${path} is less than ${minimum}`] : []),
    ...(number > maximum ? [`${path} is more than ${maximum}`] : []),
  ];
}
