/**
 * For tests only: `snicket run` as a person runs it, in a process of its own.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FolderLab, type LogLine } from './folder-lab.ts';

export { tenantText } from './folder-lab.ts';

const MAIN = resolve(import.meta.dir, '../../main.ts');

/** A folder, a state, tenants, and the program over them. */
export class RunLab extends FolderLab {
  #running: Bun.Subprocess | undefined;
  #starts = 0;

  /** Starts the program; done when it is ready. @throws if it ends instead */
  async start(...flags: readonly string[]): Promise<void> {
    await this.launch(...flags);
    await this.until('ready', async () => (await this.http('/readyz')).status === 200);
  }

  /** Starts the program. */
  async launch(...flags: readonly string[]): Promise<Bun.Subprocess> {
    this.#starts++;
    const places = ['--listen', `127.0.0.1:${this.port}`, '--http', `127.0.0.1:${this.httpPort}`];
    const pace = ['--grace', '0', '--drain', '0', '--workers', '1', '--resync', '5'];
    this.#running = Bun.spawn(
      [
        process.execPath,
        MAIN,
        'run',
        this.folder,
        '--state',
        this.state,
        ...places,
        ...pace,
        ...flags,
      ],
      { stdout: 'ignore', stderr: Bun.file(this.#logFile) },
    );
    return Promise.resolve(this.#running);
  }

  /** Ends it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#running?.kill(signal);
    await this.#running?.exited;
    return this.#running?.exitCode ?? null;
  }

  /** What this start of it wrote on standard error so far. */
  get stderr(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  override get log(): readonly LogLine[] {
    const lines = this.stderr.split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }

  protected override async end(): Promise<void> {
    await this.stop('SIGKILL');
  }

  protected override get hasEnded(): boolean {
    return this.#running !== undefined && this.#running.exitCode !== null;
  }

  get #logFile(): string {
    return join(this.root, `log-${this.#starts}`);
  }
}
