/**
 * Messages on standard error: `error: WHAT FAILED: WHY`, and on the next line `hint: WHAT TO DO`; and the errors that
 * commands throw.
 */
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

/** Exit codes: `wrong` if the examined objects have errors, `failed` if they could not be examined. */
export const EXIT = { wrong: 1, failed: 2 } as const;

/** An error with a hint. `runSnicket` prints both, without a stack trace, and sets the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, hint?: string, exitCode: number = EXIT.failed) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }

  /** The message and the hint as one text. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message}; ${this.hint}`;
  }
}

/** Returns an error whose message has the form `what failed; what to do`. */
export function asCommandError(error: unknown, exitCode?: number): CommandError {
  const { message, hint } = adviceIn(error instanceof Error ? error.message : String(error));
  return new CommandError(message, hint, exitCode);
}
