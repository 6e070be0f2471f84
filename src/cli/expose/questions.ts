/**
 * Prompts the user at a terminal for missing values. Without a terminal, a missing value is an error that names its flag.
 */
import { createInterface, type Interface } from 'node:readline';
import { CommandError, printMessage } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A choice of a question. */
interface Choice<T> {
  readonly text: string;
  readonly value: T;
}

/** A question, and the flag that answers it. */
export interface Question {
  /** The prompt, such as `Which Edge?` */
  readonly question: string;
  /** The flag or argument that answers it, such as `--edge` or `KIND/NAME`. */
  readonly flag: string;
  /** The value of the flag, such as `the name of the Edge`. */
  readonly value: string;
}

/** Prompts the user. Every method throws CommandError if there is no answer. */
export interface Questions {
  /** Asks for one of the choices, which must not be empty. The first choice is the default. */
  choose<T>(question: Question, choices: readonly Choice<T>[]): Promise<T>;
  /** Asks for a text. `fault` returns an error for an invalid answer. An empty answer selects the fallback, if any. */
  text(
    question: Question,
    fault: (text: string) => string | undefined,
    fallback?: string,
  ): Promise<string>;
  /** Asks for yes or no. */
  confirm(question: Question, isDefault: boolean): Promise<boolean>;
}

/** Without a terminal: throws CommandError, unless there is a fallback. */
export const NO_TERMINAL: Questions = {
  choose: async (question, choices) =>
    Promise.reject(
      new CommandError(
        `${notSet(question)}`,
        `pass one of ${choices.map(({ text }) => text).join(', ')}`,
      ),
    ),
  text: async (question, _fault, fallback) =>
    fallback === undefined
      ? Promise.reject(new CommandError(notSet(question)))
      : Promise.resolve(fallback),
  confirm: async (question) => Promise.reject(new CommandError(notSet(question))),
};

function notSet({ flag, value }: Question): string {
  const kind = flag.startsWith('-') ? 'flag' : 'argument';
  return `required ${kind} ${flag} is not set (${value})`;
}

/** Prompts on standard error, and reads answers from standard input. */
export class TerminalQuestions implements Questions, Disposable {
  readonly #io: CommandIo;
  #interface: Interface | undefined;
  #lines: AsyncIterator<string> | undefined;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  [Symbol.dispose](): void {
    this.#interface?.close();
  }

  async choose<T>({ question, flag }: Question, choices: readonly Choice<T>[]): Promise<T> {
    printMessage(this.#io, question);
    for (const [index, { text }] of choices.entries())
      printMessage(this.#io, `  ${index + 1}) ${text}`);
    for (;;) {
      const answer = await this.#line('Number [1]: ', flag);
      const chosen =
        answer === '' ? choices[0] : choices[/^\d+$/.test(answer) ? Number(answer) - 1 : -1];
      if (chosen !== undefined) return chosen.value;
      printMessage(this.#io, `Enter a number from 1 to ${choices.length}.`);
    }
  }

  async text(
    { question, flag }: Question,
    fault: (text: string) => string | undefined,
    fallback?: string,
  ): Promise<string> {
    for (;;) {
      const answer = await this.#line(`${question} `, flag);
      if (answer === '' && fallback !== undefined) return fallback;
      const error = fault(answer);
      if (error === undefined) return answer;
      printMessage(this.#io, error);
    }
  }

  async confirm({ question, flag }: Question, isDefault: boolean): Promise<boolean> {
    for (;;) {
      const answer = await this.#line(`${question} [${isDefault ? 'Y/n' : 'y/N'}] `, flag);
      if (answer === '') return isDefault;
      if (/^y(es)?$/i.test(answer)) return true;
      if (/^no?$/i.test(answer)) return false;
      printMessage(this.#io, 'Enter y or n.');
    }
  }

  async #line(prompt: string, flag: string): Promise<string> {
    this.#io.stderr.write(prompt);
    // Opened at the first question, because a shell stops a background job that reads from the terminal. The terminal
    // itself handles line editing and Ctrl-C.
    this.#interface ??= createInterface({ input: this.#io.stdin.stream, terminal: false });
    this.#lines ??= this.#interface[Symbol.asyncIterator]();
    const line: IteratorResult<string, unknown> = await this.#lines.next();
    if (line.done !== true) return line.value.trim();
    printMessage(this.#io, '');
    throw new CommandError('no answer', `pass ${flag}`);
  }
}
