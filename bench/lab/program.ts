import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Placement, withPlacement } from './placement.ts';

/** How to start a program. */
export interface Launch {
  readonly argv: readonly string[];
  /** The port on loopback where it accepts connections. */
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program started by the bench. */
export class Program implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly #child: Bun.Subprocess;
  readonly #log: string;

  constructor(name: string, placement: Placement, launch: Launch, folder: string) {
    this.name = name;
    this.port = launch.port;
    this.#log = join(folder, `${name}.log`);
    const log = openSync(this.#log, 'w');
    this.#child = Bun.spawn(withPlacement(placement, launch.argv), {
      cwd: folder,
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      env: { ...process.env, ...launch.env },
    });
    closeSync(log);
    this.pid = this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the last lines of its output, for an error. */
  recentOutput(): string {
    const lines = readFileSync(this.#log, 'utf8').trim().split('\n').slice(-5);
    const state = this.isRunning
      ? 'runs'
      : `ended with ${this.#child.exitCode ?? this.#child.signalCode}`;
    return [`${this.name} ${state}`, ...lines.filter(Boolean)].join('\n    ');
  }

  /** Kills the program, because a graceful stop of a gateway takes half a minute. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
