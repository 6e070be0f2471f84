/** For tests only: `snicket run` in a separate process, as users run it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FolderLab, type LogLine } from './folder-lab.ts';

export { tenantText } from './folder-lab.ts';

const MAIN = resolve(import.meta.dir, '../../main.ts');

/** A folder, a state, tenants, and `snicket run` as a process. */
export class RunLab extends FolderLab {
  #running: Bun.Subprocess | undefined;
  #starts = 0;

  /** Starts the program and waits until it is ready. @throws if it ends instead */
  async start(...flags: readonly string[]): Promise<void> {
    await this.launch(...flags);
    await this.until('ready', async () => (await this.http('/readyz')).status === 200);
  }

  /** Starts the program without waiting. */
  async launch(...flags: readonly string[]): Promise<Bun.Subprocess> {
    this.#starts++;
    const addresses = [
      '--listen',
      `127.0.0.1:${this.port}`,
      '--http',
      `127.0.0.1:${this.httpPort}`,
    ];
    const timing = ['--grace', '0', '--drain', '0', '--workers', '1', '--resync-period', '5s'];
    this.#running = Bun.spawn(
      [
        process.execPath,
        MAIN,
        'run',
        this.folder,
        '--state',
        this.state,
        ...addresses,
        ...timing,
        ...flags,
      ],
      { stdout: 'ignore', stderr: Bun.file(this.#logFile) },
    );
    return Promise.resolve(this.#running);
  }

  /** Stops the program and returns its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#running?.kill(signal);
    await this.#running?.exited;
    return this.#running?.exitCode ?? null;
  }

  /** What the program has written to standard error since its last start. */
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

  protected override get hasExited(): boolean {
    return this.#running !== undefined && this.#running.exitCode !== null;
  }

  get #logFile(): string {
    return join(this.root, `log-${this.#starts}`);
  }
}
