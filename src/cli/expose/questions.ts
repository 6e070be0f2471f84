/**
 * Asks the user at a terminal. Without a terminal, a missing value is an error that names the flag.
 */
import { createInterface, type Interface } from 'node:readline';
import { printMessage } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Thrown if a value is missing and the user cannot answer. */
export class AnswerMissing extends Error {
  override readonly name = 'AnswerMissing';
}

/** A choice of a question. */
export interface Choice<T> {
  readonly text: string;
  readonly value: T;
}

/** A question, and the flag that answers it. */
export interface Question {
  /** Such as `Which Edge?` */
  readonly question: string;
  /** Such as `--edge`. */
  readonly flag: string;
}

/** Asks the user. Every method throws AnswerMissing if there is no answer. */
export interface Questions {
  /** Asks for one of the choices, of which there is at least one. The first is the default. */
  choose<T>(question: Question, choices: readonly Choice<T>[]): Promise<T>;
  /** Asks for a text. `fault` returns what is wrong with it. With a fallback, the answer may be empty. */
  text(
    question: Question,
    fault: (text: string) => string | undefined,
    fallback?: string,
  ): Promise<string>;
  /** Asks for yes or no. */
  confirm(question: Question, isDefault: boolean): Promise<boolean>;
}

/** Questions without a terminal. */
export const NO_TERMINAL: Questions = {
  choose: async ({ question, flag }, choices) =>
    Promise.reject(
      new AnswerMissing(
        `cannot prompt without a terminal: ${question}; pass ${flag}: ${choices.map(({ text }) => text).join(', ')}`,
      ),
    ),
  text: async ({ question, flag }, _fault, fallback) =>
    fallback === undefined
      ? Promise.reject(
          new AnswerMissing(`cannot prompt without a terminal: ${question}; pass ${flag}`),
        )
      : Promise.resolve(fallback),
  confirm: async ({ question, flag }) =>
    Promise.reject(
      new AnswerMissing(`cannot prompt without a terminal: ${question}; pass ${flag}`),
    ),
};

/** Asks at the terminal of standard input and standard error. */
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
    for (const [at, { text }] of choices.entries()) printMessage(this.#io, `  ${at + 1}) ${text}`);
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
      const wrong = fault(answer);
      if (wrong === undefined) return answer;
      printMessage(this.#io, wrong);
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
    // itself handles line editing, and ends the program at Ctrl-C.
    this.#interface ??= createInterface({ input: this.#io.stdin.stream, terminal: false });
    this.#lines ??= this.#interface[Symbol.asyncIterator]();
    const line: IteratorResult<string, unknown> = await this.#lines.next();
    if (line.done !== true) return line.value.trim();
    printMessage(this.#io, '');
    throw new AnswerMissing(`no answer; pass ${flag}`);
  }
}
