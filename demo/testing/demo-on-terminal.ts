/** For tests only: the demo on a terminal. */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { waitFor } from '../../world/wait.ts';
import { TRY_IT } from '../play.ts';

/** Command line of `make demo`. */
const DEMO = [process.execPath, join(import.meta.dir, '..', 'run.ts')] as const;

const CTRL_C = '\u0003';

/** The last line that it prints. */
const READY = 'Press Ctrl-C to stop the demo';

/** A running demo with its own folder for temporary files. */
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

  /**
   * Starts a demo, and returns when it has printed this text. Default: the last line, after which it waits for Ctrl-C.
   */
  static async start(columns: number, text = READY): Promise<DemoOnTerminal> {
    const demo = new DemoOnTerminal(columns);
    const hasPrinted = () => {
      if (demo.#process.exitCode !== null) throw new Error(`the demo has exited:\n${demo.output}`);
      return demo.output.includes(text);
    };
    await waitFor(`the demo has printed '${text}'`, hasPrinted, { deadlineMs: 90_000 });
    return demo;
  }

  /** Output with escape sequences for colors. */
  get output(): string {
    return this.#output;
  }

  /** Lines of the output without colors. */
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

  /** The demo's folder, which it removes when it ends. */
  get folder(): string {
    return join(this.#temporary, readdirSync(this.#temporary)[0] ?? 'none');
  }

  /** Returns its files, and the processes that run in its folder or have it in their arguments. */
  leftovers(): readonly string[] {
    return [...readdirSync(this.#temporary), ...processesOf(this.#temporary)];
  }

  /** Presses Ctrl-C, and returns the exit code. */
  async interrupt(): Promise<number> {
    this.#process.terminal?.write(CTRL_C);
    return this.#process.exited;
  }

  /** Kills the demo with SIGKILL. */
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
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return `${pid} in ${readlinkSync(`/proc/${pid}/cwd`)}: ${args}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return ''; // gone, or not readable
    throw error;
  }
}
