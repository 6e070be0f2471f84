/**
 * Messages on standard error: `error: WHAT FAILED: WHY`, and on the next line `hint: WHAT TO DO`.
 */
import type { Command } from 'commander';
import { wrapSentence } from '../../text/wrap.ts';
import { escapedText } from '../../text/plain-text.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A message, and what to do about it. */
export interface Advice {
  readonly message: string;
  readonly hint?: string | undefined;
}

/**
 * Prints a line on standard error, with control characters escaped. On a terminal, the line is wrapped. Does not use
 * console.error, because Bun colors it red on a terminal.
 */
export function printMessage(io: Pick<CommandIo, 'stderr'>, line: string): void {
  io.stderr.write(`${fittedLine(io, line)}\n`);
}

/** Prints an error or a warning, and its hint. */
export function printAdvice(
  io: Pick<CommandIo, 'stderr'>,
  severity: 'error' | 'warning',
  { message, hint }: Advice,
): void {
  printMessage(io, `${severity}: ${message}`);
  if (hint !== undefined) printMessage(io, `hint: ${hint}`);
}

/** Exits with an error about the command line, or about a file that it names. */
export function exitWithError(command: Command, message: string, hint?: string): never {
  // Commander prints line by line.
  const lines = [`error: ${message}`, ...(hint === undefined ? [] : [`hint: ${hint}`])];
  return command.error(lines.map((line) => line.replaceAll('\n', ' ')).join('\n'));
}

/** Exits with the error that was thrown. */
export function exitWithThrown(command: Command, error: unknown): never {
  const { message, hint } = adviceIn(error instanceof Error ? error.message : String(error));
  return exitWithError(command, message, hint);
}

/** The first semicolon outside of double quotes, which enclose values. */
const PARTS = /^((?:"[^"]*"|[^"])*?); (.*)$/s;

/** Splits the message of an error of this program, which has the form `what failed; what to do`. */
export function adviceIn(text: string): Advice {
  const [, message = text, hint] = PARTS.exec(text) ?? [];
  return { message, hint };
}

/** Returns the line as {@link printMessage} prints it. */
export function fittedLine({ stderr }: Pick<CommandIo, 'stderr'>, line: string): string {
  const { isTTY, columns = 0 } = stderr;
  const text = escapedText(line);
  // A terminal of unknown size reports 0 columns. Lines in a pipe are not wrapped.
  return isTTY && columns > 0 ? wrapSentence(text, columns) : text;
}
