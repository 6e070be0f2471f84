/**
 * For tests only: runs a command in this process.
 */
import { runSnicket } from '../run-snicket.ts';
import { CommandExit, TestIo, type TestIoOptions } from './test-io.ts';

/** How a run ended, and what it wrote. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program in this process until it ends. */
export async function snicket(
  words: readonly string[],
  options: TestIoOptions = {},
): Promise<Ended> {
  const running = new InProcess(words, options);
  const exitCode = await running.ended;
  const { stdout, stderr } = running.io;
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

/** A run of the program in this process. */
export class InProcess {
  readonly io: TestIo;
  /** Its exit code. Rejects if a process would end with a stack trace. */
  readonly ended: Promise<number>;

  constructor(words: readonly string[], options: TestIoOptions) {
    this.io = new TestIo(options);
    this.ended = this.#run(words);
  }

  /** All that it has written to its standard output, which may be a terminal that it shares with standard error. */
  get text(): string {
    return this.io.stdout.text;
  }

  /** Sends a signal, as a shell does. */
  signal(name: NodeJS.Signals): void {
    if (!this.io.signals.emit(name)) throw new Error(`the command does not listen to ${name}`);
  }

  /** Types text at its terminal. */
  type(text: string): void {
    this.io.stdin.stream.write(text);
  }

  async #run(words: readonly string[]): Promise<number> {
    try {
      await runSnicket(words, this.io);
    } catch (error) {
      if (!(error instanceof CommandExit)) throw error;
    } finally {
      this.io.stdin.stream.destroy();
    }
    return this.io.exitCode ?? 0;
  }
}
