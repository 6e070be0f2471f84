/**
 * For tests only: the program as a person runs it.
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

  /** All that it wrote so far, but for what it says of its waiting. */
  get text(): string {
    return withoutProgress(this.#text);
  }

  /** As a shell does with a job: goes on after Ctrl-Z. */
  resume(): void {
    this.#running.kill('SIGCONT');
  }

  /** Types. Ctrl-C is `\u0003`, Ctrl-Z `\u001A`, Ctrl-\ `\u001C`. */
  type(text: string): void {
    this.#running.terminal?.write(text);
  }
}

/** A folder of its own, from which the program is run. */
export class Terminal implements Disposable {
  /** What to run it by. */
  readonly program = LAUNCHER;
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-cli-'));
  readonly #env: Record<string, string | undefined>;

  /** With a server, its kubeconfig is the one that is taken when nobody names another. */
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

  /** Runs it within this process, with its output into pipes. */
  async snicket(words: readonly string[], stdin = '', env: Environment = {}): Promise<Ended> {
    return snicket(words, { folder: this.folder, env: { ...this.#env, ...env }, stdin });
  }

  /** What it writes to a terminal that is so wide. Within this process. */
  async show(words: readonly string[], columns: number, env: Environment = {}): Promise<string> {
    const running = this.begin(words, columns, env);
    await running.ended;
    return running.text;
  }

  /** The same of its standard output alone. */
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

  /** Runs it within this process for as long as it goes: on a terminal that is so wide, or without columns in pipes. */
  begin(words: readonly string[], columns?: number, env: Environment = {}): InProcess {
    const around = columns === undefined ? { ...this.#env, ...env } : this.#onTerminal(env);
    return new InProcess(words, { folder: this.folder, env: around, columns });
  }

  /** Runs it as a process, by its launcher. */
  async spawn(words: readonly string[], stdin = ''): Promise<Ended> {
    return this.run([LAUNCHER, ...words], stdin);
  }

  /** Runs it as a process on a real terminal of this width, for a test that types. */
  open(words: readonly string[], columns: number, env: Environment = {}): Session {
    return new Session([LAUNCHER, ...words], columns, {
      cwd: this.folder,
      env: this.#onTerminal(env),
    });
  }

  /** Runs a program that runs it. */
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

/** On a busy machine two seconds pass before anything is answered, and then it says what it waits for. */
function withoutProgress(text: string): string {
  return text.replaceAll(/^(?:reading|waiting for) .*\.\.\.\r?\n/gm, '');
}

/** A kubeconfig for a server, with `tenants` as its namespace. */
function kubeconfigOf({ url, ca, access }: TestCluster): string {
  const { credentials } = access;
  if (credentials.kind !== 'token') throw new Error('the server knows its callers by tokens');
  const names = { cluster: 'management', user: 'me', namespace: 'tenants' };
  return writeKubeconfig({ server: url, ca, credentials, names });
}
