import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { childrenOf, identityOf, isRunning, signal, type ProcessIdentity } from './identity.ts';
import type { Ledger } from './ledger.ts';

/** Describes how to start a daemon, also for restarts. */
export interface DaemonRecipe {
  readonly name: string;
  /** The whole command, with the prefix that enters the host's namespaces. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
}

/** A long-running program of a world, with methods to inject faults. */
export class Daemon {
  readonly name: string;
  readonly log: string;
  readonly #recipe: DaemonRecipe;
  readonly #ledger: Ledger;
  #launched: Launched;

  private constructor(recipe: DaemonRecipe, ledger: Ledger, launched: Launched) {
    this.name = recipe.name;
    this.log = recipe.log;
    this.#recipe = recipe;
    this.#ledger = ledger;
    this.#launched = launched;
  }

  /**
   * Starts a program.
   *
   * @throws if the program ends before it was observed running
   */
  static async start(recipe: DaemonRecipe, ledger: Ledger): Promise<Daemon> {
    return new Daemon(recipe, ledger, await launch(recipe, ledger));
  }

  /** The process of the program. */
  get identity(): ProcessIdentity {
    return this.#launched.program;
  }

  /** Reports whether the program is running or paused. */
  get running(): boolean {
    return isRunning(this.#launched.program);
  }

  /** Kills the program, as a crash would, and waits until it is gone. */
  async kill(): Promise<void> {
    signal(this.#launched.program, 'SIGKILL');
    await this.untilEnded();
  }

  /** Sends SIGTERM and waits for the program to end. After the grace period it is killed. */
  async terminate(graceMs = 10_000): Promise<void> {
    const { program } = this.#launched;
    signal(program, 'SIGTERM');
    const timer = setTimeout(() => signal(program, 'SIGKILL'), graceMs);
    await this.untilEnded();
    clearTimeout(timer);
  }

  /** Pauses the program. Its sockets stay open, and it does not answer. */
  pause(): void {
    signal(this.#launched.program, 'SIGSTOP');
  }

  /** Resumes a paused program. */
  resume(): void {
    signal(this.#launched.program, 'SIGCONT');
  }

  /** Restarts the program with the same arguments. A running program is killed first. */
  async restart(): Promise<void> {
    if (this.running) await this.kill();
    this.#launched = await launch(this.#recipe, this.#ledger);
  }

  /** Waits until the program has ended, and returns its exit code. */
  async untilEnded(): Promise<number> {
    const { outer, program } = this.#launched;
    // nsenter stops itself while its child is paused, and then does not notice when the child ends.
    const waker = setInterval(() => {
      if (!isRunning(program)) outer.kill('SIGCONT');
    }, 20);
    try {
      return await outer.exited;
    } finally {
      clearInterval(waker);
    }
  }

  /** Returns the last lines that the program wrote since its last start. */
  tail(lines = 15): string {
    return lastLines(this.log, this.#launched.logStart, lines);
  }
}

/** One run of a program. */
interface Launched {
  /** The spawned process: nsenter or unshare, which ends when the program does. */
  readonly outer: Bun.Subprocess;
  readonly program: ProcessIdentity;
  /** Offset in the log at which the output of this run begins. */
  readonly logStart: number;
}

async function launch(recipe: DaemonRecipe, ledger: Ledger): Promise<Launched> {
  ledger.assertOpen();
  mkdirSync(dirname(recipe.log), { recursive: true });
  const log = openSync(recipe.log, 'a');
  const logStart = fstatSync(log).size;
  const outer = Bun.spawn([...recipe.argv], {
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    env: { ...recipe.env },
    detached: true,
  });
  closeSync(log);
  outer.unref();
  const program = await childOf(outer);
  if (!program) {
    const output = lastLines(recipe.log, logStart, 15);
    throw new Error(`${recipe.name} ended at once with code ${outer.exitCode}:\n${output}`);
  }
  ledger.append({ kind: 'process', name: recipe.name, process: program });
  return { outer, program, logStart };
}

/**
 * Returns the program, which is a child because nsenter forks to enter a PID namespace. Undefined if it ended before it
 * was observed.
 */
async function childOf(outer: Bun.Subprocess): Promise<ProcessIdentity | undefined> {
  while (outer.exitCode === null && outer.signalCode === null) {
    const child = childrenOf(outer.pid)[0];
    const identity = child === undefined ? undefined : identityOf(child);
    if (identity) return identity;
    await Bun.sleep(1);
  }
  return undefined;
}

function lastLines(path: string, start: number, lines: number): string {
  const text = readFileSync(path).subarray(start).toString();
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}
