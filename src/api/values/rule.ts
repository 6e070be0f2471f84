/**
 * Validation rules in both languages that check them: CEL for the API server, TypeScript for files and informers. Both
 * report the same message.
 */
import * as z from 'zod';

/** A validation rule for a value. */
export interface Rule<T> {
  /** The CEL expression. `self` is the value, and `oldSelf` the previous value in a transition rule. */
  readonly cel: string;
  /** The same check in TypeScript. Absent for a transition rule, which only the API server can check. */
  readonly holds?: (value: T) => boolean;
  /**
   * The message, with the offending value and the fix. `{self}` and `{self.name}` stand for strings that always exist,
   * and `{string(self.port)}` for other types. A conversion must not be used for a string: the CEL cost estimator
   * assumes an unlimited length for its result, and the API server rejects the rule. `{oldSelf.name}` is for transition
   * rules.
   */
  readonly sentence: string;
  /** The path of the offending field, relative to the value. Default: the value itself. */
  readonly field?: readonly string[];
}

/** A rule as a CRD carries it. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

/** The key of the rules in the metadata of a schema, and in the CRD. */
export const CEL_RULES = 'x-kubernetes-validations';

/**
 * Returns the schema with these rules. It must be called once per schema: a second call replaces the rules in the CRD.
 */
export function withRules<S extends z.ZodType>(
  schema: S,
  ...rules: readonly Rule<z.output<S>>[]
): S {
  return schema
    .superRefine((value, context) => {
      for (const { holds, sentence, field = [] } of rules) {
        if (holds === undefined || holds(value)) continue;
        const message = sentenceOn(sentence, value);
        context.addIssue({ code: 'custom', message, path: [...field] });
      }
    })
    .meta({ [CEL_RULES]: rules.map(celRule) });
}

/** A regular expression for TypeScript and CEL. */
interface Pattern {
  readonly matches: (text: string) => boolean;
  /** Returns a CEL expression that matches the result of another one. */
  readonly cel: (expression: string) => string;
}

/** Returns the pattern with this source, which must mean the same in RE2 and JavaScript. */
export function pattern(source: string): Pattern {
  const regexp = new RegExp(source);
  return {
    matches: (text) => regexp.test(text),
    cel: (expression) => `${expression}.matches(${celText(source)})`,
  };
}

/** Returns a rule that a string matches a pattern. */
export function matching(source: string, sentence: string): Rule<string> {
  const { matches, cel } = pattern(source);
  return { cel: cel('self'), holds: matches, sentence };
}

function celText(text: string): string {
  return JSON.stringify(text);
}

const PLACEHOLDER = /\{((?:self|oldSelf)[.\w]*|string\(self[.\w]*\))\}/;

function celRule({ cel, sentence, field }: Omit<Rule<never>, 'holds'>): CelRule {
  const fieldPath = field === undefined ? {} : { fieldPath: `.${field.join('.')}` };
  // Splitting by a pattern with one group puts the captured placeholders at the odd indexes.
  const pieces = sentence.split(PLACEHOLDER);
  if (pieces.length === 1) return { rule: cel, message: sentence, ...fieldPath };
  const terms = pieces.map((piece, index) => (index % 2 === 1 ? piece : celText(piece)));
  const messageExpression = terms.filter((term) => term !== '""').join(' + ');
  return { rule: cel, messageExpression, ...fieldPath };
}

function sentenceOn(sentence: string, self: unknown): string {
  return sentence
    .split(PLACEHOLDER)
    .map((piece, index) => (index % 2 === 1 ? String(valueAt(self, piece)) : piece))
    .join('');
}

function valueAt(self: unknown, placeholder: string): unknown {
  const [, ...keys] = placeholder.replaceAll(/string\(|\)/g, '').split('.');
  return keys.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>>)[key],
    self,
  );
}
