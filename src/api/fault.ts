/**
 * What is wrong with an object, in sentences: the place, the value, and what to write instead.
 */
import type * as z from 'zod';

/** One thing that is wrong. */
export interface Fault {
  /** As kubectl has it: `spec.endpoints.api[0]`; empty for the object as a whole. */
  readonly path: string;
  /** The value and the way out; no full stop. */
  readonly sentence: string;
  /** Of a field that nobody knows: its name, in what the path names. */
  readonly unknownField?: string | undefined;
}

/** An object that cannot be used; the message has all that is wrong with it. */
export class InvalidObjectError extends Error {
  readonly code = 'InvalidObject';
  readonly faults: readonly Fault[];

  /** @param object - As messages name it: `Exposure tenants/blue`. */
  constructor(object: string, faults: readonly Fault[]) {
    const texts = faults.map(({ path, sentence }) =>
      path === '' ? sentence : `${path}: ${sentence}`,
    );
    super(`${object}: ${texts.join('. ')}`);
    this.name = 'InvalidObjectError';
    this.faults = faults;
  }
}

/** What zod found, as faults. Of a value of the wrong type only that is said: its checks mean another type. */
export function faultsOf(issues: readonly z.core.$ZodIssue[]): Fault[] {
  const placed = issues.map((issue) => ({ ...issue, at: pathText(issue.path) }));
  const isMistyped = ({ code }: { code: string | undefined }) => code === 'invalid_type';
  const mistyped = new Set(placed.filter(isMistyped).map(({ at }) => at));
  return placed
    .filter((issue) => isMistyped(issue) || !mistyped.has(issue.at))
    .map(({ at, message, ...issue }) => ({
      path: at,
      sentence: message,
      ...(issue.code === 'unrecognized_keys' && { unknownField: issue.keys[0] }),
    }));
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`;
      const key = String(step);
      return /^\w+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

const LONGEST_SHOWN = 80;

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

/** What to write where a value is of the wrong type. */
const WANTED: Readonly<Record<string, string>> = {
  string: 'a text, in quotes if it looks like something else',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
};

/** The sentence for what a schema does not take; nothing for what has a sentence of its own. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return amiss(issue.input, WANTED[issue.expected] ?? issue.expected);
    case 'invalid_value':
      return amiss(issue.input, choice(issue.values.map(String)));
    case 'unrecognized_keys':
      return `there is no field ${issue.keys.map(valueText).join(', ')}; there are ${knownKeys(issue.inst)}`;
    case 'too_small':
      return `${shown(issue.input)} is too ${isCount(issue.origin) ? 'short' : 'small'}; write ${amount(issue.origin, issue.minimum)} or more`;
    case 'too_big':
      return `${shown(issue.input)} is too ${isCount(issue.origin) ? 'long' : 'large'}; write ${amount(issue.origin, issue.maximum)} or less`;
    case 'invalid_union':
      // Quantities alone are numbers or texts.
      return amiss(issue.input, 'a whole number, or a text in quotes');
    // A rule has its own sentence, and no field of ours can be wrong in the other ways.
    case 'custom':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
      return undefined;
  }
}

function amiss(value: unknown, wanted: string): string {
  return value === undefined ? `missing; write ${wanted}` : `${valueText(value)}; write ${wanted}`;
}

function choice(values: readonly string[]): string {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : `one of ${values.join(', ')}`;
}

function shown(value: unknown): string {
  return Array.isArray(value) ? `a list of ${value.length}` : valueText(value);
}

/** Whether a limit counts what is in the value, and is not about the value itself. */
function isCount(origin: string): boolean {
  return origin === 'string' || origin === 'array';
}

function amount(origin: string, limit: number | bigint): string {
  if (!isCount(origin)) return String(limit);
  const one = origin === 'string' ? 'character' : 'entry';
  const many = origin === 'string' ? 'characters' : 'entries';
  return `${limit} ${Number(limit) === 1 ? one : many}`;
}

function knownKeys(schema: unknown): string {
  const { def } = (schema as z.core.$ZodObject)._zod;
  return Object.keys(def.shape).join(', ');
}
