import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../world/repository.ts';
import { waitFor } from '../../world/wait.ts';
import type { DemoFolder } from './folder.ts';

/** How Snicket is run here; what follows are its own words. */
export const SNICKET = [
  // It ends when the demo does, however that ends.
  ...[process.execPath, '--no-orphans'],
  join(repository, 'src', 'main.ts'),
] as const;

/** Of whoever waits for a program, on a busy machine. */
export const PATIENCE_MS = 60_000;
/** Whoever says that it is ready says so at once. */
const READY_MS = 2000;
/** A program that has not ended so long after SIGTERM is killed. */
const END_MS = 3000;

/** Options of {@link Program.start}. */
export interface ProgramOptions {
  readonly name: string;
  /** What follows `snicket`; paths begin at the demo's folder. */
  readonly words: readonly string[];
  /** The port of its `--http`. */
  readonly httpPort: number;
  readonly folder: DemoFolder;
}

/** Snicket in one of its roles, a process of its own. It ends with the scope, and also if the demo is killed. */
export class Program implements AsyncDisposable {
  /** With /healthz, /readyz and /metrics. */
  readonly http: string;
  readonly words: readonly string[];
  readonly #log: string;
  readonly #process: Bun.Subprocess;

  private constructor({ name, words, httpPort, folder }: ProgramOptions) {
    this.http = `http://127.0.0.1:${httpPort}`;
    this.words = words;
    this.#log = folder.write(join('log', name), '');
    const log = openSync(this.#log, 'a');
    this.#process = Bun.spawn([...SNICKET, ...words], {
      cwd: folder.path,
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      // Ctrl-C is for the demo alone, which then ends its programs.
      detached: true,
    });
    closeSync(log);
  }

  /** Starts it; whether it is ready is another matter. */
  static start(options: ProgramOptions): Program {
    return new Program(options);
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Whether it says so itself. One that does not listen yet is not. */
  async isReady(): Promise<boolean> {
    // One that starts or ends may take the question and never answer.
    return fetch(`${this.http}/readyz`, { signal: AbortSignal.timeout(READY_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Waits until it is ready. */
  async ready(signal: AbortSignal): Promise<void> {
    const look = async () => {
      signal.throwIfAborted();
      if (this.hasEnded) throw new Error(await this.ended());
      return this.isReady();
    };
    await waitFor(`snicket ${this.words.join(' ')} is ready`, look, { deadlineMs: PATIENCE_MS });
  }

  /** Waits until it ends, and says what it said last. */
  async ended(): Promise<string> {
    await this.#process.exited;
    return `snicket ${this.words.join(' ')} has ended:\n${readFileSync(this.#log, 'utf8')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), END_MS);
    await this.#process.exited;
    clearTimeout(late);
  }
}
