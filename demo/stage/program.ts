import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../world/repository.ts';
import { waitFor } from '../../world/wait.ts';
import type { DemoFolder } from './folder.ts';

/** Command line of Snicket in the demo, without its arguments. */
export const SNICKET = [
  // The process ends when the demo ends, even if the demo is killed.
  ...[process.execPath, '--no-orphans'],
  join(repository, 'src', 'main.ts'),
] as const;

/** Deadline for a program to become ready on a busy machine. */
export const START_TIMEOUT_MS = 60_000;
/** Timeout of a readiness request. */
const READY_MS = 2000;
/** Time after SIGTERM at which a program is killed. */
const END_MS = 3000;

/** Options of {@link Program.start}. */
export interface ProgramOptions {
  readonly name: string;
  /** Arguments of `snicket`; paths are relative to the demo's folder. */
  readonly args: readonly string[];
  /** The port of its `--http`. */
  readonly httpPort: number;
  readonly folder: DemoFolder;
}

/** A process that runs one of Snicket's roles. It stops at the end of the scope, and also if the demo is killed. */
export class Program implements AsyncDisposable {
  /** URL of the server with /healthz, /readyz and /metrics. */
  readonly http: string;
  readonly args: readonly string[];
  readonly #log: string;
  readonly #process: Bun.Subprocess;

  private constructor({ name, args, httpPort, folder }: ProgramOptions) {
    this.http = `http://127.0.0.1:${httpPort}`;
    this.args = args;
    this.#log = folder.write(join('log', name), '');
    const log = openSync(this.#log, 'a');
    this.#process = Bun.spawn([...SNICKET, ...args], {
      cwd: folder.path,
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      // Ctrl-C must reach only the demo, which then stops its programs.
      detached: true,
    });
    closeSync(log);
  }

  /** Starts a program, without waiting until it is ready. */
  static start(options: ProgramOptions): Program {
    return new Program(options);
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Reports whether the program is ready. A program that does not listen yet is not. */
  async isReady(): Promise<boolean> {
    // A program that starts or stops may accept the connection and never answer.
    return fetch(`${this.http}/readyz`, { signal: AbortSignal.timeout(READY_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Waits until it is ready. */
  async ready(signal: AbortSignal): Promise<void> {
    const isReady = async () => {
      signal.throwIfAborted();
      if (this.hasEnded) throw new Error(await this.ended());
      return this.isReady();
    };
    await waitFor(`snicket ${this.args.join(' ')} is ready`, isReady, {
      deadlineMs: START_TIMEOUT_MS,
    });
  }

  /** Waits until it ends, and returns its log. */
  async ended(): Promise<string> {
    await this.#process.exited;
    return `snicket ${this.args.join(' ')} exited:\n${readFileSync(this.#log, 'utf8')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#process.kill('SIGKILL'), END_MS);
    await this.#process.exited;
    clearTimeout(killTimer);
  }
}
