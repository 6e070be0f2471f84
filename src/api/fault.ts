/**
 * Validation errors of an object: for each, the path, the offending value, and what to write instead.
 */
import type * as z from 'zod';

/** A validation error. */
export interface Fault {
  /** The field path, as kubectl prints it: `spec.endpoints.api[0]`. Empty for the object as a whole. */
  readonly path: string;
  /** A sentence with the offending value and the fix, without a full stop. */
  readonly sentence: string;
  /** The name of an unknown field. The path is that of the object that contains it. */
  readonly unknownField?: string | undefined;
}

/** Thrown for an invalid object. The message lists all validation errors. */
export class InvalidObjectError extends Error {
  readonly code = 'FieldInvalid';
  readonly faults: readonly Fault[];

  /** @param object - The object, as messages name it: `Exposure tenants/blue`. */
  constructor(object: string, faults: readonly Fault[]) {
    const texts = faults.map(({ path, sentence }) =>
      path === '' ? sentence : `${path}: ${sentence}`,
    );
    super(`${object}: ${texts.join('. ')}`);
    this.name = 'InvalidObjectError';
    this.faults = faults;
  }
}

/**
 * Converts zod issues to faults. A value of the wrong type has that fault alone, since its other checks assume the
 * right type.
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[]): Fault[] {
  const located = issues.map((issue) => ({ ...issue, at: pathText(issue.path) }));
  const isMistyped = ({ code }: { code: string | undefined }) => code === 'invalid_type';
  const mistyped = new Set(located.filter(isMistyped).map(({ at }) => at));
  return located
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

/** The expected type, as messages name it. */
const TYPE_TEXTS: Readonly<Record<string, string>> = {
  string: 'a string, in quotes if it looks like another type',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
};

/** Returns the sentence for a zod issue; undefined if the issue carries a sentence already. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(issue.input, TYPE_TEXTS[issue.expected] ?? issue.expected);
    case 'invalid_value':
      return mustBe(issue.input, choice(issue.values.map(String)));
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.map(valueText).join(', ')}: known fields are ${knownKeys(issue.inst)}`;
    case 'too_small':
      return `${invalid(issue.input)}: must ${verb(issue.origin)} at least ${amount(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `${invalid(issue.input)}: must ${verb(issue.origin)} at most ${amount(issue.origin, issue.maximum)}`;
    case 'invalid_union':
      // Quantities are the only unions: integers or strings.
      return mustBe(issue.input, 'an integer, or a string in quotes');
    // Custom rules carry their own sentence. The other issues cannot occur in a spec.
    case 'custom':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
      return undefined;
  }
}

function mustBe(value: unknown, expected: string): string {
  return `${value === undefined ? 'required value' : `invalid value ${valueText(value)}`}: must be ${expected}`;
}

function choice(values: readonly string[]): string {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : `one of ${values.join(', ')}`;
}

function invalid(value: unknown): string {
  return Array.isArray(value)
    ? `invalid list of ${value.length} entries`
    : `invalid value ${valueText(value)}`;
}

function verb(origin: string): string {
  return isCount(origin) ? 'have' : 'be';
}

/** Reports whether a limit applies to the length of the value and not to the value itself. */
function isCount(origin: string): boolean {
  return origin === 'string' || origin === 'array';
}

function amount(origin: string, limit: number | bigint): string {
  if (!isCount(origin)) return String(limit);
  const unit = origin === 'string' ? 'character' : 'entry';
  const many = origin === 'string' ? 'characters' : 'entries';
  return `${limit} ${Number(limit) === 1 ? unit : many}`;
}

function knownKeys(schema: unknown): string {
  const { def } = (schema as z.core.$ZodObject)._zod;
  return Object.keys(def.shape).join(', ');
}
