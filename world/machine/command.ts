import { patience } from '../wait.ts';
import { familyOf, signal } from './identity.ts';

/** Output of a finished command. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of {@link run}. */
export interface RunOptions {
  /** Text for standard input. Default: none, the command reads end of file. */
  readonly input?: string;
  /** The command is killed after this time. Default 60,000. */
  readonly timeoutMs?: number;
  /** Variables added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command in error messages, for a command with a long prefix. Default: the command itself. */
  readonly displayArgv?: readonly string[];
  /** Folder to run in. Default: the current one. */
  readonly cwd?: string;
}

/** A command that exited with a code other than 0, was killed, or could not be started. */
export class CommandError extends Error {
  readonly argv: readonly string[];
  /** Exit code, or undefined when it was killed or did not start. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;

  constructor(argv: readonly string[], code: number | undefined, reason: string, output: Output) {
    const outputText = [output.stderr.trim(), output.stdout.trim()].filter(Boolean).join('\n');
    super(`${argv.join(' ')}: ${reason}${outputText ? `\n${outputText}` : ''}`);
    this.name = 'CommandError';
    this.argv = argv;
    this.code = code;
    this.stdout = output.stdout;
    this.stderr = output.stderr;
  }
}

/**
 * Runs a command and returns its output.
 *
 * @throws CommandError unless the exit code is 0
 */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
  const timeoutMs = (options.timeoutMs ?? 60_000) * patience;
  const shown = options.displayArgv ?? argv;
  const child = spawn(argv, options);
  const readers = [child.stdout.getReader(), child.stderr.getReader()] as const;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    // nsenter and sh run the command as a child process, which would survive them.
    for (const member of familyOf(child.pid)) signal(member, 'SIGKILL');
    // A process that is no longer a descendant may still hold the pipes. Do not wait for it.
    for (const reader of readers) void reader.cancel();
  }, timeoutMs);
  try {
    const [stdout, stderr, code] = await Promise.all([
      readAll(readers[0]),
      readAll(readers[1]),
      child.exited,
    ]);
    if (timedOut) {
      throw new CommandError(shown, undefined, `not finished after ${timeoutMs} ms`, {
        stdout,
        stderr,
      });
    }
    if (child.signalCode) {
      throw new CommandError(shown, undefined, `killed by ${child.signalCode}`, { stdout, stderr });
    }
    if (code !== 0) throw new CommandError(shown, code, `exit code ${code}`, { stdout, stderr });
    return { stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}

function spawn(argv: readonly string[], options: RunOptions) {
  try {
    return Bun.spawn([...argv], {
      stdin: options.input === undefined ? 'ignore' : new TextEncoder().encode(options.input),
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
  } catch (error) {
    const reason = `could not be started: ${(error as Error).message}`;
    throw new CommandError(options.displayArgv ?? argv, undefined, reason, {
      stdout: '',
      stderr: '',
    });
  }
}

/** Returns the text of a stream up to its end, or until the read is canceled. */
async function readAll(reader: {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}
