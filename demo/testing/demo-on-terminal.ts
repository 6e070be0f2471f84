/**
 * For tests only: the demo as a person sees it, on a terminal.
 */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { waitFor } from '../../world/wait.ts';

/** The command line of `make demo`. */
const DEMO = [process.execPath, join(import.meta.dir, '..', 'run.ts')] as const;
/** The heading of its commands. */
export const TRY_IT = 'Try it, in another terminal';

const CTRL_C = '\u0003';

/** What it says last. */
const UP = 'Ctrl-C ends it';

/** A demo that runs, with a folder of its own for temporary files. */
export class DemoOnTerminal implements AsyncDisposable {
  readonly #temporary = mkdtempSync(join(tmpdir(), 'demo-test-'));
  readonly #process: Bun.Subprocess;
  #output = '';

  private constructor(columns: number) {
    const decoder = new TextDecoder();
    const env = { TERM: 'xterm', NO_COLOR: undefined, ONCE: undefined, TMPDIR: this.#temporary };
    this.#process = Bun.spawn([...DEMO], {
      env: { ...process.env, ...env },
      terminal: {
        cols: columns,
        rows: 50,
        data: (_, bytes) => (this.#output += decoder.decode(bytes, { stream: true })),
      },
    });
  }

  /** Starts one, and returns when it has said this. Default: everything, so that it waits for Ctrl-C. */
  static async start(columns: number, said = UP): Promise<DemoOnTerminal> {
    const demo = new DemoOnTerminal(columns);
    const look = () => {
      if (demo.#process.exitCode !== null) throw new Error(`it has ended:\n${demo.output}`);
      return demo.output.includes(said);
    };
    await waitFor(`the demo has said '${said}'`, look, { deadlineMs: 90_000 });
    return demo;
  }

  /** With its colours. */
  get output(): string {
    return this.#output;
  }

  /** As lines of text. */
  get lines(): readonly string[] {
    return stripVTControlCharacters(this.output).split('\r\n');
  }

  /** The commands that it has printed. */
  get commands(): readonly string[] {
    const lines = this.lines.slice(this.lines.indexOf(TRY_IT));
    return lines.flatMap((line, at) =>
      line.startsWith('  # ') ? [(lines[at + 1] ?? '').trim()] : [],
    );
  }

  /** The folder of which it says that it is gone when the demo ends. */
  get folder(): string {
    return join(this.#temporary, readdirSync(this.#temporary)[0] ?? 'none');
  }

  /** Files that it has made, and processes that run there or name them. */
  leftovers(): readonly string[] {
    return [...readdirSync(this.#temporary), ...processesOf(this.#temporary)];
  }

  /** Presses Ctrl-C, and returns the exit code. */
  async interrupt(): Promise<number> {
    this.#process.terminal?.write(CTRL_C);
    return this.#process.exited;
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.#process.terminal?.close();
    rmSync(this.#temporary, { recursive: true, force: true });
  }
}

function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(processText)
    .filter((text) => text.includes(folder));
}

function processText(pid: string): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return `${pid} in ${readlinkSync(`/proc/${pid}/cwd`)}: ${words}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return ''; // it has just ended, or is not ours
    throw error;
  }
}
