/**
 * For tests only: the program as a person runs it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestApiServer } from '../../kube/testing/api-server.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';

const LAUNCHER = resolve(import.meta.dir, '../../../snicket');

/** How it ended, and what it said. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of its own, from which the program is run. */
export class Terminal implements Disposable {
  /** What to run it by. */
  readonly program = LAUNCHER;
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-cli-'));
  readonly #env: Record<string, string | undefined>;

  /** With a server, its kubeconfig is the one that is taken when nobody names another. */
  constructor(server?: TestApiServer) {
    const nowhere = { KUBECONFIG: undefined, KUBERNETES_SERVICE_HOST: undefined };
    this.#env = { ...process.env, ...nowhere, HOME: this.folder };
    if (server === undefined) return;
    this.write('kubeconfig', kubeconfigOf(server));
    this.#env['KUBECONFIG'] = join(this.folder, 'kubeconfig');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Runs it, while servers of this process go on. */
  async snicket(words: readonly string[], stdin = ''): Promise<Ended> {
    return this.run([LAUNCHER, ...words], stdin);
  }

  /** What it writes to a terminal that is so wide. */
  async show(words: readonly string[], columns: number): Promise<string> {
    let text = '';
    const decoder = new TextDecoder();
    const running = Bun.spawn([LAUNCHER, ...words], {
      ...{ cwd: this.folder, env: { ...this.#env, TERM: 'xterm', NO_COLOR: undefined } },
      terminal: {
        ...{ cols: columns, rows: 24 },
        data: (_, bytes) => (text += decoder.decode(bytes, { stream: true })),
      },
    });
    await running.exited;
    running.terminal?.close();
    return text;
  }

  /** Runs a program that runs it. */
  async run(words: readonly string[], stdin = ''): Promise<Ended> {
    const running = Bun.spawn([...words], {
      ...{ cwd: this.folder, env: this.#env, stdin: Buffer.from(stdin) },
      ...{ stdout: 'pipe', stderr: 'pipe' },
    });
    const [stdout, stderr, exitCode] = await Promise.all([
      running.stdout.text(),
      running.stderr.text(),
      running.exited,
    ]);
    // On a busy machine two seconds pass before anything is answered.
    const said = stderr.replaceAll(/^(?:reading|waiting for) .*\.\.\.\n/gm, '');
    return { exitCode, stdout, stderr: said };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** A kubeconfig for a server, with `tenants` as its namespace. */
function kubeconfigOf({ url, ca, access }: TestApiServer): string {
  const { credentials } = access;
  if (credentials.kind !== 'token') throw new Error('the server knows its callers by tokens');
  const names = { cluster: 'management', user: 'me', namespace: 'tenants' };
  return writeKubeconfig({ server: url, ca, credentials, names });
}
