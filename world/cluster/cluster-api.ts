import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import { program } from '../parts/parts.ts';
import type { NodesPlan } from '../spec.ts';
import { patience, retry, waitFor } from '../wait.ts';
import { kubeconfig, writeKubeconfig } from './kubeconfig.ts';
import type { Authority, Credential, Subject } from './pki.ts';

/** How to reach an API server, with the administrator's credential. */
export interface ClusterAccess {
  /** The cluster's CA, which also signs the certificates of its nodes. */
  readonly authority: Authority;
  readonly admin: Credential;
  /** Host on which kubectl runs. */
  readonly host: Host;
  /** Address of the API server as that host reaches it. */
  readonly server: string;
  /** Address of the API server from the machine's own network. */
  readonly machineServer: string;
  /** Path of the kubeconfig to write for `server`. */
  readonly kubeconfig: string;
  /** Path of the kubeconfig to write for `relayed`. */
  readonly machineKubeconfig: string;
  /** Pause before a failed read is retried. Default: see {@link retry}. */
  readonly pauseMs?: number;
}

/**
 * Access to the API server of a cluster, for its administrator and its nodes. A world or a provider runs the server.
 */
export class ClusterApi {
  readonly plan: NodesPlan;
  readonly authority: Authority;
  /** Host on which kubectl runs. */
  readonly host: Host;
  /** Address of the API server inside the world. */
  readonly server: string;
  /** Path of the administrator's kubeconfig, for programs inside the world's network. */
  readonly kubeconfig: string;
  /** Path of the administrator's kubeconfig, for programs in the machine's own network. */
  readonly machineKubeconfig: string;
  /** Retry options for failed reads. */
  readonly retryOptions: { readonly pauseMs?: number };
  readonly #admin: Credential;
  readonly #machineServer: string;

  constructor(plan: NodesPlan, access: ClusterAccess) {
    this.plan = plan;
    this.authority = access.authority;
    this.host = access.host;
    this.server = access.server;
    this.kubeconfig = access.kubeconfig;
    this.machineKubeconfig = access.machineKubeconfig;
    this.retryOptions = access.pauseMs === undefined ? {} : { pauseMs: access.pauseMs };
    this.#admin = access.admin;
    this.#machineServer = access.machineServer;
    const mode = 0o600;
    writeFileSync(this.kubeconfig, this.kubeconfigFor(this.server), { mode });
    writeFileSync(this.machineKubeconfig, this.kubeconfigFor(this.#machineServer), { mode });
  }

  /** Text of the administrator's kubeconfig for another address of the same API server. */
  kubeconfigFor(server: string): string {
    return kubeconfig({
      name: this.plan.name,
      server,
      authority: this.authority.certificate,
      credential: this.#admin,
    });
  }

  /** Writes a kubeconfig for a user of this cluster. */
  async writeUser(path: string, subject: Subject, server = this.server): Promise<string> {
    const credential = await this.authority.issue(subject);
    return writeKubeconfig(path, {
      name: this.plan.name,
      server,
      authority: this.authority.certificate,
      credential,
    });
  }

  /** Runs kubectl as the administrator. */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const kubectl = [program('kubectl'), `--kubeconfig=${this.kubeconfig}`];
    const cache = `--cache-dir=${join(this.host.folder, 'kubectl-cache')}`;
    const { stdout } = await this.host.exec([...kubectl, cache, ...args], {
      timeoutMs: 120_000,
      // Ignore the kubectl preferences of the user who runs the tests.
      env: { KUBERC: 'off' },
      displayArgv: [`${this.plan.name}: kubectl`, ...args],
      ...(input === undefined ? {} : { input }),
    });
    return stdout;
  }

  /** Waits until the API server is ready. */
  async start(): Promise<void> {
    await waitFor(`the API server of ${this.plan.name} is ready`, () => this.answers('/readyz'), {
      deadlineMs: 60_000,
    });
  }

  /**
   * Sends a request to the API server as the administrator, from the machine's own network. A GET is retried if the API
   * server does not answer or is busy, because no test checks such short failures.
   */
  async request(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<Response> {
    const send = async () => this.#send(method, path, body, contentType);
    return method === 'GET' ? retry(send, { ...this.retryOptions, isRefused: isBusy }) : send();
  }

  /**
   * Reports whether a GET of this path succeeds. It fails while the API server does not listen yet or is being
   * replaced.
   */
  async answers(path: string): Promise<boolean> {
    try {
      return (await this.#send('GET', path)).ok;
    } catch {
      return false; // the caller retries until its deadline
    }
  }

  /** Sends one request and reads the whole response. */
  async #send(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<Response> {
    const response = await fetch(`${this.#machineServer}${path}`, {
      method,
      headers: { 'content-type': contentType },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      tls: { ca: this.authority.certificate, cert: this.#admin.certificate, key: this.#admin.key },
      signal: AbortSignal.timeout(30_000 * patience),
    });
    const { status, statusText, headers } = response;
    return new Response(await response.arrayBuffer(), { status, statusText, headers });
  }
}

/** Reports whether the API server answered 429 Too Many Requests or a server error. */
function isBusy({ status }: Response): boolean {
  return status === 429 || status >= 500;
}
