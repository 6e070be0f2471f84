/**
 * The action of a catalog entry, with `{names}` for values that only the probe knows.
 */
import { quoted } from '../text/quote.ts';

type ActionOf<Entry> = Entry extends { readonly action: infer Action } ? Action : '';

type NamesIn<Action> = Action extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The values that an action needs. */
export type ActionValues<Entry> = [NamesIn<ActionOf<Entry>>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<ActionOf<Entry>>, string>>];

/** Maximum length of a message. It may contain names and versions from untrusted servers, and goes into a status. */
export const MAX_MESSAGE_LENGTH = 1000;

/** Returns an action with its values filled in. */
export function filledAction(
  action: string,
  values: Readonly<Record<string, string>> = {},
): string {
  return action.replace(/\{(\w+)\}/g, (open, name: string) => quoted(values[name] ?? open));
}
