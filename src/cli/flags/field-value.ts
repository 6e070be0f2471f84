/**
 * Flag values that are also fields of Snicket's objects: validated by the same rules, with the same messages.
 */
import type * as z from 'zod';
import { sentenceOf } from '../../api/fault.ts';

/** Returns the parsed value. @throws TypeError whose message has no period at the end */
export function fieldValue<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  const { data, error } = schema.safeParse(text, { error: sentenceOf });
  if (error !== undefined) throw new TypeError(error.issues[0]?.message);
  return data;
}
