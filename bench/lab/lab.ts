import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../world/wait.ts';
import type { Kind } from '../cases.ts';
import { launchEdge } from '../peers/haproxy.ts';
import type { CPrograms } from '../programs/compiled.ts';
import { LoadError, runLoad } from './load.ts';
import type { Place } from './placement.ts';
import { type Launch, Program } from './program.ts';
import { HOST, layOutSite, type Site } from './site.ts';

/** How long a program may take until a request gets through it. */
const READY_MS = 20_000;

/** A backend, an optional edge, and the programs under test. Disposing it stops all of them. */
export class Lab implements AsyncDisposable {
  readonly site: Site;
  readonly programs: CPrograms;
  readonly signal: AbortSignal;
  readonly #running = new Set<Program>();

  private constructor(site: Site, programs: CPrograms, signal: AbortSignal) {
    this.site = site;
    this.programs = programs;
    this.signal = signal;
  }

  /** Starts the backend. The signal aborts everything that runs in the lab. */
  static async open(programs: CPrograms, signal: AbortSignal): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), 'snicket-bench-'));
    const lab = new Lab(await layOutSite(folder), programs, signal);
    try {
      const { backendPort, files } = lab.site;
      const words = [String(backendPort), files.backendCertificate, files.backendKey];
      await lab.start('backend', 'around', {
        argv: [programs.backend, ...words],
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
    await this.start('edge', 'around', await launchEdge(this.site));
  }

  /** Starts a program and waits until a request gets through it. */
  async start(name: string, place: Place, launch: Launch, kind: Kind = 'tls'): Promise<Program> {
    this.signal.throwIfAborted();
    const program = new Program(name, place, launch, this.site.folder);
    this.#running.add(program);
    try {
      await waitFor(`${name} carries a request`, () => this.#carries(program, kind), {
        deadlineMs: READY_MS,
        everyMs: 20,
      });
    } catch (error) {
      const words = program.lastWords();
      await this.stop(program);
      this.signal.throwIfAborted();
      throw new Error(`${(error as Error).message}; ${words}`, { cause: error });
    }
    return program;
  }

  /** Stops one program. */
  async stop(program: Program): Promise<void> {
    this.#running.delete(program);
    await program[Symbol.asyncDispose]();
  }

  async #carries(program: Program, kind: Kind): Promise<boolean> {
    this.signal.throwIfAborted();
    if (!program.isRunning) throw new Error(`${program.name} ended at its start`);
    return this.carries(program.port, kind, HOST);
  }

  /** Whether a request with this name gets through. */
  async carries(port: number, kind: Kind, name: string): Promise<boolean> {
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
    rmSync(this.site.folder, { recursive: true, force: true });
  }
}
