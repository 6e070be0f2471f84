/**
 * Values of flags that are fields of our objects too: taken by the same rules, and refused with the same sentences.
 */
import type * as z from 'zod';
import { sentenceOf } from '../../api/fault.ts';

/** The value. @throws TypeError with a sentence that has no full stop. */
export function fieldValue<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  const { data, error } = schema.safeParse(text, { error: sentenceOf });
  if (error !== undefined) throw new TypeError(error.issues[0]?.message);
  return data;
}
