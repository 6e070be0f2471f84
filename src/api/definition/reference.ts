/**
 * The API reference as Markdown: a table of fields for each kind, generated from the same schemas as the CRDs.
 */
import { structuralSchema, type Kind, type StructuralSchema } from './definition.ts';
import { CEL_RULES, type CelRule } from '../values/rule.ts';

/** Returns the reference page of these kinds. */
export function apiReference(kinds: readonly Kind[]): string {
  const [first] = kinds;
  return [
    '# API reference',
    `Group and version: \`${first?.resource.apiVersion ?? ''}\`. \`kubectl explain\` shows the same text.`,
    ...kinds.flatMap(kindSections),
  ]
    .join('\n\n')
    .concat('\n');
}

function kindSections({ resource, description, shortNames, columns, schema }: Kind): string[] {
  const root = structuralSchema(schema);
  const { spec, status } = root.properties ?? {};
  const names = [resource.plural, resource.kind.toLowerCase(), ...shortNames];
  return [
    `## ${resource.kind}`,
    description,
    `Scope: ${resource.namespaced ? 'Namespaced' : 'Cluster'}. Names for kubectl: ${names.map(code).join(', ')}. Columns of \`kubectl get\`: ${columns.map(({ name, priority }) => code(name.toUpperCase()) + (priority === 1 ? ' (wide)' : '')).join(', ')}.`,
    ...(spec === undefined ? [] : [`### ${resource.kind} spec`, fieldTable(spec, 'spec')]),
    `### ${resource.kind} validation`,
    ruleList(root),
    ...(status === undefined ? [] : [`### ${resource.kind} status`, fieldTable(status, 'status')]),
  ];
}

function fieldTable(schema: StructuralSchema, path: string): string {
  const rows = fieldRows(schema, path);
  return ['| Field | Type | Default | Description |', '|---|---|---|---|', ...rows].join('\n');
}

function fieldRows(schema: StructuralSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const fallback =
      field.default === undefined || isEmpty(field.default)
        ? ''
        : code(JSON.stringify(field.default));
    const cells = [
      code(at),
      typeText(field),
      isRequired ? 'required' : fallback,
      field.description ?? '',
    ];
    const below = field.items ?? field;
    return [
      `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
      ...fieldRows(below, field.items === undefined ? at : `${at}[]`),
    ];
  });
}

/**
 * Reports whether a default is an empty object, which exists only so that the API server fills in the defaults of its
 * fields.
 */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function typeText(field: StructuralSchema): string {
  if (field['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (field.enum !== undefined) return field.enum.map((value) => code(String(value))).join(', ');
  if (field.type === 'array')
    return `list of ${typeText(field.items ?? {})}${bounds(field.minItems, field.maxItems)}`;
  if (typeof field.additionalProperties === 'object')
    return `map to ${typeText(field.additionalProperties)}`;
  if (field.format === 'date-time') return 'time';
  return `${field.type ?? ''}${bounds(field.minimum ?? field.minLength, field.maximum ?? field.maxLength)}`;
}

function bounds(least: number | undefined, most: number | undefined): string {
  if (most === undefined) return '';
  return least === undefined ? ` (up to ${most})` : ` (${least} to ${most})`;
}

/** Returns the messages of all validation rules, as a list. */
function ruleList(root: StructuralSchema): string {
  return rulesIn(root, '')
    .map(({ path, sentence }) => `- ${code(path)}: ${sentence}`)
    .join('\n');
}

interface ValidationMessage {
  readonly path: string;
  readonly sentence: string;
}

function rulesIn(schema: StructuralSchema, path: string): ValidationMessage[] {
  const rules = (schema[CEL_RULES] ?? []) as readonly CelRule[];
  return [
    ...rules.map(({ message, messageExpression, fieldPath = '' }) => ({
      path: `${path}${fieldPath}`.replace(/^\./, ''),
      sentence: message ?? plainSentence(messageExpression ?? ''),
    })),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      rulesIn(field, path === '' ? name : `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : rulesIn(schema.items, `${path}[]`)),
    ...(typeof schema.additionalProperties === 'object'
      ? rulesIn(schema.additionalProperties, `${path}.*`)
      : []),
  ];
}

const TERM = /"(?:[^"\\]|\\.)*"|(?:string\()?((?:self|oldSelf)[.\w]*)\)?/g;

/**
 * Replaces each value in a message expression with a word: `"port " + string(self.port) + " is taken"` becomes `port PORT
 * is taken`.
 */
function plainSentence(messageExpression: string): string {
  return messageExpression
    .replaceAll(TERM, (term, variable: string | undefined) =>
      variable === undefined
        ? (JSON.parse(term) as string)
        : (variable.split('.').slice(1).at(-1) ?? 'value').toUpperCase(),
    )
    .replaceAll(' + ', '');
}

function code(text: string): string {
  return `\`${text}\``;
}
