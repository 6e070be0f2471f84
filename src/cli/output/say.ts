import { wrapSentence } from '../../text/wrap.ts';
import { escapedText } from '../../text/plain-text.ts';
import type { CommandIo } from '../io/command-io.ts';

/**
 * Prints a line on standard error, with control characters escaped. On a terminal, the line is wrapped. Does not use
 * console.error, because Bun colors it red on a terminal.
 */
export function say(io: Pick<CommandIo, 'stderr'>, line: string): void {
  io.stderr.write(`${fittingLine(io, line)}\n`);
}

/** Returns the line as {@link say} prints it. */
export function fittingLine({ stderr }: Pick<CommandIo, 'stderr'>, line: string): string {
  const { isTTY, columns = 0 } = stderr;
  const text = escapedText(line);
  // A terminal of unknown size reports 0 columns. Lines in a pipe are not wrapped.
  return isTTY && columns > 0 ? wrapSentence(text, columns) : text;
}
