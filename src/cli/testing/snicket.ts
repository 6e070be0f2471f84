/**
 * For tests only: the program as a user runs it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestCluster } from '../../kube/testing/test-cluster.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { InProcess, snicket, type Ended } from './in-process.ts';
import { CapturedOutput } from './test-io.ts';

const LAUNCHER = resolve(import.meta.dir, '../../../snicket');

type Environment = Readonly<Record<string, string | undefined>>;

interface Place {
  readonly cwd: string;
  readonly env: Environment;
}

/** A program on a terminal. */
export class Session {
  /** Its exit code. */
  readonly ended: Promise<number>;
  readonly #running: Bun.Subprocess;
  #text = '';

  constructor(words: readonly string[], columns: number, place: Place) {
    const decoder = new TextDecoder();
    this.#running = Bun.spawn([...words], {
      ...place,
      terminal: {
        cols: columns,
        rows: 24,
        data: (_, bytes) => (this.#text += decoder.decode(bytes, { stream: true })),
      },
    });
    this.ended = this.#running.exited.finally(() => this.#running.terminal?.close());
  }

  /** All that it has written, except progress messages. */
  get text(): string {
    return withoutProgress(this.#text);
  }

  /** Continues the program after Ctrl-Z, as a shell does. */
  resume(): void {
    this.#running.kill('SIGCONT');
  }

  /** Types text. Ctrl-C is `\u0003`, Ctrl-Z `\u001A`, Ctrl-\ `\u001C`. */
  type(text: string): void {
    this.#running.terminal?.write(text);
  }
}

/** How a run ended, and what it wrote. */
export interface Transcript {
  readonly exitCode: number;
  /** Both outputs, as a shell shows them. */
  readonly text: string;
  readonly stdout: string;
}

/** Runs the program in a temporary folder. */
export class Terminal implements Disposable {
  /** Path of the program. */
  readonly program = LAUNCHER;
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-cli-'));
  readonly #env: Record<string, string | undefined>;

  /** If there is a server, its kubeconfig is the default. */
  constructor(server?: TestCluster) {
    const nowhere = { KUBECONFIG: undefined, KUBERNETES_SERVICE_HOST: undefined };
    this.#env = { ...process.env, ...nowhere, HOME: this.folder };
    if (server === undefined) return;
    this.write('kubeconfig', kubeconfigOf(server));
    this.#env['KUBECONFIG'] = join(this.folder, 'kubeconfig');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Runs the program in this process, with pipes for output. */
  async snicket(words: readonly string[], stdin = '', env: Environment = {}): Promise<Ended> {
    return snicket(words, { folder: this.folder, env: { ...this.#env, ...env }, stdin });
  }

  /** Returns what the program writes to a terminal with this width. Runs it in this process. */
  async show(words: readonly string[], columns: number, env: Environment = {}): Promise<string> {
    const running = this.begin(words, columns, env);
    await running.ended;
    return running.text;
  }

  /** Returns what the program writes to standard output, a terminal with this width. Runs it in this process. */
  async showOutput(
    words: readonly string[],
    columns: number,
    env: Environment = {},
  ): Promise<string> {
    const running = new InProcess(words, {
      folder: this.folder,
      env: this.#onTerminal(env),
      columns,
      stderr: new CapturedOutput(),
    });
    await running.ended;
    return running.text;
  }

  /** Runs the program in this process, and returns both outputs as one text, as a shell shows them. */
  async transcript(
    words: readonly string[],
    stdin = '',
    env: Environment = {},
  ): Promise<Transcript> {
    const both = new CapturedOutput();
    const stdout = new CapturedOutput();
    stdout.on('text', () => both.write(stdout.written.at(-1) ?? ''));
    const around = { folder: this.folder, env: { ...this.#env, ...env } };
    const options = { ...around, stdin, stdout, stderr: both };
    const { exitCode } = await snicket(words, options);
    return { exitCode, text: withoutProgress(both.text), stdout: stdout.text };
  }

  /** Starts the program in this process, on a terminal with this width, or with pipes if there is no width. */
  begin(words: readonly string[], columns?: number, env: Environment = {}): InProcess {
    const around = columns === undefined ? { ...this.#env, ...env } : this.#onTerminal(env);
    return new InProcess(words, { folder: this.folder, env: around, columns });
  }

  /** Runs the program as a process, with its launcher. */
  async spawn(words: readonly string[], stdin = ''): Promise<Ended> {
    return this.run([LAUNCHER, ...words], stdin);
  }

  /** Starts the program as a process on a real terminal with this width, for a test that types. */
  open(words: readonly string[], columns: number, env: Environment = {}): Session {
    return new Session([LAUNCHER, ...words], columns, {
      cwd: this.folder,
      env: this.#onTerminal(env),
    });
  }

  /** Runs another program, which runs this one. */
  async run(words: readonly string[], stdin = ''): Promise<Ended> {
    const running = Bun.spawn([...words], {
      cwd: this.folder,
      env: this.#env,
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr, exitCode] = await Promise.all([
      running.stdout.text(),
      running.stderr.text(),
      running.exited,
    ]);
    return { exitCode, stdout, stderr: withoutProgress(stderr) };
  }

  #onTerminal(env: Environment): Environment {
    return { ...this.#env, TERM: 'xterm', NO_COLOR: undefined, ...env };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Removes progress messages, which a busy machine prints if there is no answer within two seconds. */
function withoutProgress(text: string): string {
  return text.replaceAll(/^(?:reading|waiting for) .*\.\.\.\r?\n/gm, '');
}

/** Returns a kubeconfig for a server, with `tenants` as its namespace. */
function kubeconfigOf({ url, ca, access }: TestCluster): string {
  const { credentials } = access;
  if (credentials.kind !== 'token') throw new Error('the server authenticates clients by token');
  const names = { cluster: 'management', user: 'me', namespace: 'tenants' };
  return writeKubeconfig({ server: url, ca, credentials, names });
}
