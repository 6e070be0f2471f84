/**
 * What a command reads from and writes to. Commands get it as an argument, as kubectl's commands get their IOStreams, so
 * that a test runs them without a process.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Environment } from '../../kube/access/in-cluster.ts';

/** Standard output or standard error; `process.stdout` is one. */
export interface OutputStream {
  readonly isTTY: boolean;
  /** 0 for a terminal of unknown size. Undefined without a terminal. */
  readonly columns: number | undefined;
  /** 0 and undefined as for `columns`. */
  readonly rows: number | undefined;
  /** Calls `written` once the text has been handed over. */
  write(text: string, written?: () => void): unknown;
  on(event: 'resize', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** Standard input. */
export interface InputStream {
  readonly isTTY: boolean;
  /** For reading line by line. */
  readonly stream: NodeJS.ReadableStream;
  /** Blocks until all of it is read. */
  readAll(): string;
}

/** What can end, stop or continue a command. `exit` comes last, whatever ends it. */
type CommandEvent = NodeJS.Signals | 'exit';

/** Signals to the command; `process` is one. */
interface Signals {
  on(event: CommandEvent, listener: () => void): unknown;
  once(event: CommandEvent, listener: () => void): unknown;
  off(event: CommandEvent, listener: () => void): unknown;
}

/** The streams, the environment and the exit of one run of a command. */
export interface CommandIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Environment;
  /** The user's home folder. */
  readonly home: string;
  /** The program as the user called it; the launcher of a clone also sets SNICKET_CALLED. */
  readonly argv0: string;
  readonly signals: Signals;
  /** Exit code if the command returns without `exit`. Default 0. */
  exitCode: number | undefined;
  /** Ends the command at once, with the exit code that is given or set. */
  exit(code?: number): never;
  /** Stops it until SIGCONT, as Ctrl-Z does. */
  suspend(): void;
  /** The clock of progress messages and of completion. */
  readonly clock: Clock;
  /** Writes a server's log line without blocking on the reader. */
  log(line: string): void;
  /** Resolves a path from the command line. */
  path(name: string): string;
}
