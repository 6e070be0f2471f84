/**
 * For tests only: the streams of a command without a process.
 */
import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { CommandIo, InputStream, OutputStream } from '../io/command-io.ts';

/** Thrown where a command would end the process. */
export class CommandExit extends Error {
  override readonly name = 'CommandExit';
}

/** An output that is recorded, as a pipe or, with columns, as a terminal. It emits `text` for each write. */
export class CapturedOutput extends EventEmitter implements OutputStream {
  columns: number;
  rows: number;
  /** Each text that has been written. */
  readonly written: string[] = [];

  constructor(columns = 0, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  get isTTY(): boolean {
    return this.columns > 0;
  }

  /** All of it, with the line breaks of a terminal if it is one. */
  get text(): string {
    const text = this.written.join('');
    return this.isTTY ? text.replaceAll(/\r?\n/g, '\r\n') : text;
  }

  write(text: string, written?: () => void): void {
    this.written.push(text);
    this.emit('text');
    written?.();
  }
}

/** Options of {@link TestIo}. */
export interface TestIoOptions {
  readonly env?: CommandIo['env'];
  /** The folder that names are relative to. Default: that of temporary files. */
  readonly folder?: string;
  /** All of standard input. Default: empty, or what is typed at the terminal. */
  readonly stdin?: string;
  /** The width of a terminal that all three streams share. Default: each is a pipe. */
  readonly columns?: number | undefined;
  /** Default: the terminal, or a pipe. */
  readonly stdout?: CapturedOutput;
  /** Default: the terminal, or a pipe. */
  readonly stderr?: CapturedOutput;
}

/** One run of a command. */
export class TestIo implements CommandIo {
  readonly stdin: InputStream & { readonly stream: PassThrough };
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly env: CommandIo['env'];
  readonly home: string;
  readonly argv0 = 'snicket';
  readonly signals = new EventEmitter();
  /** Advanced by the test. */
  readonly clock = new ManualClock();
  exitCode: number | undefined;
  readonly #folder: string;

  constructor(options: TestIoOptions = {}) {
    const { env = {}, folder = tmpdir(), stdin = '', columns } = options;
    const isTTY = columns !== undefined;
    const stream = new PassThrough();
    if (!isTTY) stream.end(stdin);
    this.stdin = { isTTY, stream, readAll: () => stdin };
    this.stdout = options.stdout ?? new CapturedOutput(columns);
    this.stderr = options.stderr ?? (isTTY ? this.stdout : new CapturedOutput());
    this.env = env;
    this.home = env['HOME'] ?? folder;
    this.#folder = folder;
  }

  exit(code: number | undefined = this.exitCode): never {
    this.exitCode = code;
    throw new CommandExit(`the command has ended itself with exit code ${code ?? 0}`);
  }

  suspend(): void {
    throw new Error('a command without a process cannot be stopped');
  }

  log(line: string): void {
    this.stderr.write(line);
  }

  path(name: string): string {
    return resolve(this.#folder, name);
  }
}
