/** For tests only: a terminal in which the commands of one page run. */
import { Terminal, type Transcript } from '../../../src/cli/testing/snicket.ts';
import type { TestCluster } from '../../../src/kube/testing/test-cluster.ts';
import { until } from '../../../src/operator/testing/until.ts';

/** A text of the documentation and its value in this test. The first substitution for a text counts. */
export type Substitution = readonly [documented: string, actual: string];

/** Options of {@link PageTerminal}. */
export interface PageTerminalOptions {
  /** The cluster of the kubeconfig. Default: none. */
  readonly server?: TestCluster;
  /** Replaced in arguments, files and output. */
  readonly substitutions?: readonly Substitution[];
  /** Arguments that are replaced as a whole. */
  readonly words?: Readonly<Record<string, string>>;
  /** The files in the working directory. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A terminal in a new folder. */
export class PageTerminal implements Disposable {
  readonly #terminal: Terminal;
  readonly #options: Required<Omit<PageTerminalOptions, 'server'>>;

  constructor({ server, ...options }: PageTerminalOptions) {
    this.#terminal = new Terminal(server);
    this.#options = { substitutions: [], words: {}, files: {}, env: {}, ...options };
    for (const [name, text] of Object.entries(this.#options.files)) {
      this.#terminal.write(name, this.#actual(text));
    }
  }

  /** Runs the program with documented arguments, and returns its output with the documented values. */
  async run(words: readonly string[], stdin = ''): Promise<Transcript> {
    const { env } = this.#options;
    const run = this.#terminal.transcript(this.#arguments(words), this.#actual(stdin), env);
    const { exitCode, text, stdout } = await run;
    return { exitCode, text: this.#documented(text), stdout: this.#documented(stdout) };
  }

  /** Runs the program at a terminal, and types an answer after each prompt. */
  async answer(
    words: readonly string[],
    answers: readonly (readonly [prompt: string, answer: string])[],
  ): Promise<Transcript> {
    const session = this.#terminal.begin(this.#arguments(words), 200);
    for (const [prompt, answer] of answers) {
      await until(`it shows ${prompt}`, () => session.text.includes(prompt));
      session.type(`${answer}\n`);
    }
    const exitCode = await session.ended;
    // A terminal echoes the input.
    const text = answers.reduce(
      (shown, [prompt, answer]) => shown.replace(prompt, `${prompt}${answer}\n`),
      Bun.stripANSI(session.text).replaceAll('\r', ''),
    );
    return { exitCode, text: this.#documented(text), stdout: '' };
  }

  /** Runs the program until it has written this text, and then interrupts it like Ctrl-C. */
  async interrupt(words: readonly string[], expected: string): Promise<Transcript> {
    const session = this.#terminal.begin(this.#arguments(words));
    await until(`it shows ${expected}`, () => session.text.includes(expected));
    session.signal('SIGINT');
    const exitCode = await session.ended;
    return { exitCode, text: this.#documented(session.text), stdout: '' };
  }

  #arguments(words: readonly string[]): readonly string[] {
    const actual = words.map((word) => this.#options.words[word] ?? this.#actual(word));
    // No probe fails on a machine that pauses.
    const isProbe = words[0] === 'doctor' && !words.includes('--pre');
    return isProbe ? [...actual, '--timeout', '60s'] : actual;
  }

  #actual(text: string): string {
    return replaceAll(text, this.#options.substitutions);
  }

  #documented(text: string): string {
    const { substitutions } = this.#options;
    return replaceAll(
      text,
      substitutions.map(([documented, actual]) => [actual, documented]),
    );
  }

  [Symbol.dispose](): void {
    this.#terminal[Symbol.dispose]();
  }
}

function replaceAll(text: string, pairs: readonly Substitution[]): string {
  if (pairs.length === 0) return text;
  const replacements = new Map(pairs.toReversed());
  const pattern = pairs.map(([from]) => RegExp.escape(from)).join('|');
  return text.replaceAll(new RegExp(pattern, 'g'), (found) => replacements.get(found) ?? found);
}
