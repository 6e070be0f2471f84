/**
 * The way out that a code of a catalogue has, with `{names}` for what only the probe knows.
 */
import { quoted } from '../text/quote.ts';

type ActionOf<Entry> = Entry extends { readonly action: infer Action } ? Action : '';

type NamesIn<Action> = Action extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** What the action of an entry leaves open. */
export type ActionValues<Entry> = [NamesIn<ActionOf<Entry>>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<ActionOf<Entry>>, string>>];

/** Names and versions in it are what strangers say; a status has no room for a page. */
export const MAX_MESSAGE_LENGTH = 1000;

/** An action with its values. */
export function filledIn(action: string, values: Readonly<Record<string, string>> = {}): string {
  return action.replace(/\{(\w+)\}/g, (open, name: string) => quoted(values[name] ?? open));
}
