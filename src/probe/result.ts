/**
 * The state, message and action of a result, with `{names}` in the action for values that only the probe knows.
 */
import type { FindingMessage } from '../api/finding.ts';
import { quoted } from '../text/quote.ts';
import { RESULT_CODES, type CodeEntry, type ResultCode } from './codes.ts';

type ActionOf<Entry> = Entry extends { readonly action: infer Action } ? Action : '';

type NamesIn<Action> = Action extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The values that an action needs. */
export type ActionValues<Entry> = [NamesIn<ActionOf<Entry>>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<ActionOf<Entry>>, string>>];

/** Maximum length of a message. It may contain names and versions from untrusted servers, and goes into a status. */
const MAX_MESSAGE_LENGTH = 1000;

/** What hops and checks have in common. */
interface Result extends FindingMessage {
  readonly state: CodeEntry['state'];
  readonly code: ResultCode;
}

/** Returns the result for a code. */
export function resultOf(
  code: ResultCode,
  text: string,
  values: Readonly<Record<string, string>> = {},
): Result {
  const { state, action }: CodeEntry = RESULT_CODES[code];
  const result = { state, code, message: quoted(text, MAX_MESSAGE_LENGTH) };
  if (action === undefined) return result;
  const filled = action.replace(/\{(\w+)\}/g, (open, name: string) => quoted(values[name] ?? open));
  return { ...result, action: filled };
}
