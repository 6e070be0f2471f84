import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { Terminal } from '../cli/testing/snicket.ts';
import { freePort } from '../net/testing/free-port.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { objectOf } from './testing/objects.ts';
import { ALL_KINDS } from './testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from './testing/namespaces.ts';
import { until } from './testing/until.ts';

setDefaultTimeout(240_000);

const NO_CRDS = ALL_KINDS.filter(({ kind }) => kind !== RESOURCES.exposure.kind);

/** `snicket operator`, as a process. */
class RunningOperator implements AsyncDisposable {
  readonly #terminal: Terminal;
  readonly #port: number;
  readonly #process: Bun.Subprocess;

  constructor(server: TestApiServer, words: readonly string[] = []) {
    this.#terminal = new Terminal(server);
    this.#port = freePort();
    const { program, folder } = this.#terminal;
    const http = ['--http', `127.0.0.1:${this.#port}`];
    this.#process = Bun.spawn(
      [program, 'operator', '--namespace', SYSTEM_NAMESPACE, ...http, ...words],
      {
        env: { ...process.env, KUBECONFIG: `${folder}/kubeconfig` },
        stdout: 'ignore',
        stderr: Bun.file(`${folder}/log`),
      },
    );
  }

  /** `503 sentence`; empty while the port is closed. */
  async get(path: string): Promise<string> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`);
      return `${answer.status} ${(await answer.text()).trim()}`;
    } catch {
      return '';
    }
  }

  async untilReadyz(pattern: RegExp): Promise<string> {
    const end = performance.now() + 60_000;
    for (;;) {
      const text = await this.get('/readyz');
      if (pattern.test(text)) return text;
      if (performance.now() > end) throw new Error(`/readyz says ${text}`);
      await Bun.sleep(20);
    }
  }

  get log(): string {
    return readFileSync(`${this.#terminal.folder}/log`, 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
    this.#terminal[Symbol.dispose]();
  }
}

describe('an operator', () => {
  test('in a cluster without the CRDs is alive but not ready, and reports what to do', async () => {
    await using server = await TestApiServer.start({ resources: NO_CRDS });
    await using operator = new RunningOperator(server);

    const said = await operator.untilReadyz(/^503 the CRD of Exposure/);

    expect(said).toBe('503 the CRD of Exposure is not installed; run kubectl apply -k deploy');
    expect(await operator.get('/healthz')).toBe('200 ok');
    await until('it is logged', () =>
      operator.log.includes('the CRD of Exposure is not installed'),
    );
  });

  test('on standby is ready as long as the API server answers', async () => {
    await using server = await TestApiServer.start();
    server.seed(objectOf('Namespace', { name: SYSTEM_NAMESPACE }));
    await using first = new RunningOperator(server, ['--leader-elect']);
    await first.untilReadyz(/^200/);
    await using second = new RunningOperator(server, ['--leader-elect']);
    await second.untilReadyz(/^200 ready/);
    expect(second.log).not.toContain('"operator started"');

    await server.goDown();

    await second.untilReadyz(/^503 failed to acquire or renew the Lease .*snicket-operator/);
    expect(await second.get('/healthz')).toBe('200 ok');
  });
});
