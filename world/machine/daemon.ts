import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { childrenOf, identityOf, isRunning, signal, type ProcessIdentity } from './identity.ts';
import type { Ledger } from './ledger.ts';

/** How a daemon is started; kept, so that it can be started again the same way. */
export interface DaemonRecipe {
  readonly name: string;
  /** The whole command, with what enters the host's namespaces in front. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
}

/** A long-running program of a world, with the faults a test can put upon it. */
export class Daemon {
  readonly name: string;
  readonly log: string;
  readonly #recipe: DaemonRecipe;
  readonly #ledger: Ledger;
  #outer: Bun.Subprocess;
  #program: ProcessIdentity;

  private constructor(
    recipe: DaemonRecipe,
    ledger: Ledger,
    outer: Bun.Subprocess,
    program: ProcessIdentity,
  ) {
    this.name = recipe.name;
    this.log = recipe.log;
    this.#recipe = recipe;
    this.#ledger = ledger;
    this.#outer = outer;
    this.#program = program;
  }

  /** Starts a program; fails if it ends before it could be seen running. */
  static async start(recipe: DaemonRecipe, ledger: Ledger): Promise<Daemon> {
    const { outer, program } = await launch(recipe, ledger);
    return new Daemon(recipe, ledger, outer, program);
  }

  /** The program as the machine sees it. */
  get identity(): ProcessIdentity {
    return this.#program;
  }

  /** Is the program running (or paused)? */
  get running(): boolean {
    return isRunning(this.#program);
  }

  /** Settles when the program has ended, with its exit code. */
  get exited(): Promise<number> {
    return this.#outer.exited;
  }

  /** Ends the program at once, as a crash would, and waits until it is gone. */
  async kill(): Promise<void> {
    signal(this.#program, 'SIGKILL');
    await this.#outer.exited;
  }

  /** Asks the program to end, and waits for it; after the grace time it is killed. */
  async terminate(graceMs = 10_000): Promise<void> {
    signal(this.#program, 'SIGTERM');
    const timer = setTimeout(() => signal(this.#program, 'SIGKILL'), graceMs);
    await this.#outer.exited;
    clearTimeout(timer);
  }

  /** Freezes the program: its sockets stay open and nobody answers. */
  pause(): void {
    signal(this.#program, 'SIGSTOP');
  }

  /** Lets a paused program go on. */
  resume(): void {
    signal(this.#program, 'SIGCONT');
    // nsenter stops itself together with its child.
    this.#outer.kill('SIGCONT');
  }

  /** Starts the program again, with the same arguments; one that still runs is killed first. */
  async restart(): Promise<void> {
    if (this.running) await this.kill();
    const { outer, program } = await launch(this.#recipe, this.#ledger);
    this.#outer = outer;
    this.#program = program;
  }

  /** The last lines that the program wrote. */
  tail(lines = 15): string {
    return readFileSync(this.log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }
}

async function launch(
  recipe: DaemonRecipe,
  ledger: Ledger,
): Promise<{ outer: Bun.Subprocess; program: ProcessIdentity }> {
  ledger.assertOpen();
  mkdirSync(dirname(recipe.log), { recursive: true });
  const log = openSync(recipe.log, 'a');
  const outer = Bun.spawn([...recipe.argv], {
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    env: { ...recipe.env },
    detached: true,
  });
  closeSync(log);
  outer.unref();
  const program = await childOf(outer, recipe);
  ledger.append({ kind: 'process', name: recipe.name, process: program });
  return { outer, program };
}

/** nsenter forks to enter a PID namespace, so the program is its child. */
async function childOf(outer: Bun.Subprocess, recipe: DaemonRecipe): Promise<ProcessIdentity> {
  while (outer.exitCode === null && outer.signalCode === null) {
    const child = childrenOf(outer.pid)[0];
    const identity = child === undefined ? undefined : identityOf(child);
    if (identity) return identity;
    await Bun.sleep(1);
  }
  const said = readFileSync(recipe.log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  throw new Error(
    `${recipe.name} ended at once with code ${outer.exitCode}; ${recipe.log} says:\n${said}`,
  );
}
