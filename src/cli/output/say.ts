import { sentenceText } from '../../text/filled-lines.ts';
import { escapedText } from '../../text/plain-text.ts';
import type { CommandIo } from '../io/command-io.ts';

/**
 * A line on standard error, whatever others wrote that is quoted in it; on a terminal several, so that each fits. Not by
 * console.error, which Bun prints in red on a terminal, whatever it says.
 */
export function say(io: Pick<CommandIo, 'stderr'>, line: string): void {
  io.stderr.write(`${fittingLine(io, line)}\n`);
}

/** The same, for whoever writes it himself. */
export function fittingLine({ stderr }: Pick<CommandIo, 'stderr'>, line: string): string {
  const { isTTY, columns = 0 } = stderr;
  const text = escapedText(line);
  // A terminal that does not know its size says 0. In a pipe a line is a line.
  return isTTY && columns > 0 ? sentenceText(text, columns) : text;
}
