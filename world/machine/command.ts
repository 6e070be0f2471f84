/** What a finished command printed. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of {@link run}. */
export interface RunOptions {
  /** Text for standard input. Default: none, the command reads end of file. */
  readonly input?: string;
  /** The command is killed when this time is over. Default 60,000. */
  readonly timeoutMs?: number;
  /** Variables added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder to run in. Default: the current one. */
  readonly cwd?: string;
}

/** A command that ended with another code than 0, was killed, or could not be started. */
export class CommandError extends Error {
  readonly argv: readonly string[];
  /** Exit code, or undefined when it was killed or did not start. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;

  constructor(argv: readonly string[], code: number | undefined, how: string, output: Output) {
    const said = [output.stderr.trim(), output.stdout.trim()].filter(Boolean).join('\n');
    super(`${argv.join(' ')}: ${how}${said ? `\n${said}` : ''}`);
    this.name = 'CommandError';
    this.argv = argv;
    this.code = code;
    this.stdout = output.stdout;
    this.stderr = output.stderr;
  }
}

/** Runs a command to its end and returns what it printed; anything but exit code 0 is a {@link CommandError}. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const child = Bun.spawn([...argv], {
    stdin: options.input === undefined ? 'ignore' : new TextEncoder().encode(options.input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  try {
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (timedOut) {
      throw new CommandError(argv, undefined, `not done after ${timeoutMs} ms`, { stdout, stderr });
    }
    if (child.signalCode) {
      throw new CommandError(argv, undefined, `killed by ${child.signalCode}`, { stdout, stderr });
    }
    if (code !== 0) throw new CommandError(argv, code, `exit code ${code}`, { stdout, stderr });
    return { stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}
