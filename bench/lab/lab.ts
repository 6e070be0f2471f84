import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../world/wait.ts';
import type { Kind } from '../cases.ts';
import { launchEdge } from '../peers/haproxy.ts';
import type { CPrograms } from '../programs/compiled.ts';
import { LoadError, runLoad } from './load.ts';
import type { Placement } from './placement.ts';
import { type Launch, Program } from './program.ts';
import { HOST, createEnvironment, type Environment } from './environment.ts';

/** How long a program may take until it forwards a request. */
const READY_MS = 20_000;

/** A backend, an optional edge, and the programs under test. Disposing it stops all of them. */
export class Lab implements AsyncDisposable {
  readonly environment: Environment;
  readonly programs: CPrograms;
  readonly signal: AbortSignal;
  readonly #running = new Set<Program>();

  private constructor(environment: Environment, programs: CPrograms, signal: AbortSignal) {
    this.environment = environment;
    this.programs = programs;
    this.signal = signal;
  }

  /** Starts the backend. The signal aborts everything that runs in the lab. */
  static async open(programs: CPrograms, signal: AbortSignal): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), 'snicket-bench-'));
    const lab = new Lab(await createEnvironment(folder), programs, signal);
    try {
      const { backendPort, files } = lab.environment;
      const args = [String(backendPort), files.backendCertificate, files.backendKey];
      await lab.start('backend', 'support', {
        argv: [programs.backend, ...args],
        port: backendPort,
      });
      return lab;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the edge behind the workers' proxies. */
  async startEdge(): Promise<void> {
    await this.start('edge', 'support', await launchEdge(this.environment));
  }

  /** Starts a program and waits until it forwards a request. */
  async start(
    name: string,
    placement: Placement,
    launch: Launch,
    kind: Kind = 'tls',
  ): Promise<Program> {
    this.signal.throwIfAborted();
    const program = new Program(name, placement, launch, this.environment.folder);
    this.#running.add(program);
    try {
      await waitFor(`${name} forwards a request`, () => this.#isForwarding(program, kind), {
        deadlineMs: READY_MS,
        everyMs: 20,
      });
    } catch (error) {
      const args = program.recentOutput();
      await this.stop(program);
      this.signal.throwIfAborted();
      throw new Error(`${(error as Error).message}; ${args}`, { cause: error });
    }
    return program;
  }

  /** Stops one program. */
  async stop(program: Program): Promise<void> {
    this.#running.delete(program);
    await program[Symbol.asyncDispose]();
  }

  async #isForwarding(program: Program, kind: Kind): Promise<boolean> {
    this.signal.throwIfAborted();
    if (!program.isRunning) throw new Error(`${program.name} exited on startup`);
    return this.forwardsRequest(program.port, kind, HOST);
  }

  /** Reports whether a request with this server name is answered. */
  async forwardsRequest(port: number, kind: Kind, name: string): Promise<boolean> {
    try {
      const time = { warmUpMs: 0, durationMs: 20 };
      const counted = await runLoad(
        this.programs.load,
        { port, name, kind },
        ['--down', '1'],
        time,
      );
      return counted.errors === 0 && counted.completed > 0;
    } catch (error) {
      if (error instanceof LoadError) return false;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running].map((program) => program[Symbol.asyncDispose]()));
    rmSync(this.environment.folder, { recursive: true, force: true });
  }
}
