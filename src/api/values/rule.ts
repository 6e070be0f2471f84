/**
 * A rule of our objects, in the two languages that check it: CEL for the API server, TypeScript for whoever reads a
 * file or an informer. Both refuse with the same sentence.
 */
import * as z from 'zod';

/** A claim that a value has to meet. */
export interface Rule<T> {
  /** What the API server evaluates; `self` is the value, and `oldSelf` what it was, in a rule about a change. */
  readonly cel: string;
  /** The same claim. Absent for a rule about a change: the API server alone knows both sides of it. */
  readonly holds?: (value: T) => boolean;
  /**
   * The offending value and a way out. `{self}` and `{self.name}` stand for texts that are sure to be there,
   * `{string(self.port)}` for what is no text: the API server takes the length of a conversion for unlimited, and so
   * refuses one where it is not needed. `{oldSelf.name}` is for rules about a change.
   */
  readonly sentence: string;
  /** The field that is to blame, from the value on. Default: the value. */
  readonly field?: readonly string[];
}

/** As a CRD carries a rule. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

/** Where a schema's metadata keep the rules for the CRD. */
export const CEL_RULES = 'x-kubernetes-validations';

/** The schema, refusing what breaks a rule. To be called once for a schema: rules do not add up. */
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

/** A regular expression in both languages. */
export interface Pattern {
  readonly matches: (text: string) => boolean;
  /** The same question about what this CEL expression gives. */
  readonly cel: (expression: string) => string;
}

/** The pattern with this source, which must mean the same in RE2 and in JavaScript. */
export function pattern(source: string): Pattern {
  const regexp = new RegExp(source);
  return {
    matches: (text) => regexp.test(text),
    cel: (expression) => `${expression}.matches(${celText(source)})`,
  };
}

/** A rule that a text matches a pattern. */
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
  // Of a split by a pattern with one group, every second piece is what the group matched.
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
