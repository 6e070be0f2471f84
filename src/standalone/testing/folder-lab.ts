/** For tests only: the folder and the state of a `snicket run`, with small API servers as control planes of tenants. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { Exposure } from '../../api/exposure.ts';
import { freePort } from '../../net/testing/free-port.ts';
import type { KubeObject } from '../../kube/object.ts';
import { LabTenant } from '../../operator/testing/lab-tenant.ts';
import { TENANTS } from '../../operator/testing/namespaces.ts';

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A folder, a state and tenants. Subclasses run the program. */
export abstract class FolderLab implements AsyncDisposable {
  readonly root: string;
  readonly folder: string;
  readonly state: string;
  readonly tenants: LabTenant[];
  /** The port is fixed, because the Edge contains it. */
  readonly port: number;
  readonly httpPort = freePort();
  readonly #isOwner: boolean;
  #status: { readonly text: string; readonly items: readonly KubeObject[] } | undefined;

  /** Uses the folder, state and tenants of `other`, which also disposes them. Default: new ones. */
  constructor(other?: FolderLab) {
    this.root = other?.root ?? mkdtempSync(join(tmpdir(), 'snicket-run-'));
    this.folder = join(this.root, 'folder');
    this.state = join(this.root, 'state');
    this.tenants = other?.tenants ?? [];
    this.port = other?.port ?? freePort();
    this.#isOwner = other === undefined;
    if (this.#isOwner) this.writeEdge();
  }

  /** Writes a file into the folder. */
  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text);
  }

  remove(file: string): void {
    rmSync(join(this.folder, file), { recursive: true });
  }

  writeEdge(): void {
    this.write(
      'edge.yaml',
      `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata:
  name: shared
  annotations: {snicket.dev/is-default: "true"}
spec:
  driver: snicket
  domain: example.test
  addresses: [127.0.0.1]
  port: ${this.port}
`,
    );
  }

  /** Starts a tenant and writes its Exposure and Secrets into a subfolder with its name. */
  async addTenant(name: string): Promise<LabTenant> {
    const tenant = await LabTenant.start(name);
    this.tenants.push(tenant);
    this.write(`${name}/pki/ca.crt`, tenant.authority.certificate);
    this.write(`${name}/admin.conf`, tenant.kubeconfig);
    this.write(`${name}/tenant.yaml`, tenantText(tenant));
    return tenant;
  }

  /** Stops the program at once, if it runs. */
  protected abstract end(): Promise<void>;

  /** Whether the program has ended by itself. */
  protected abstract get hasExited(): boolean;

  /** The log lines since the last start of the program. */
  abstract get log(): readonly LogLine[];

  /** Waits for a log line whose `msg` or `message` matches. */
  async logged(pattern: RegExp): Promise<LogLine> {
    return this.until(`the log contains ${pattern}`, () =>
      this.log.find(({ msg, message }) => pattern.test(msg) || pattern.test(String(message))),
    );
  }

  /** The Edges and Exposures of the status file. */
  get status(): readonly KubeObject[] {
    const text = readFileSync(join(this.state, 'status.yaml'), 'utf8');
    // Cached, because tests poll it and parsing takes longer than reading.
    if (this.#status?.text !== text) {
      const { items } = parse(text) as { readonly items: readonly KubeObject[] };
      this.#status = { text, items };
    }
    return this.#status.items;
  }

  exposure(name: string): Exposure | undefined {
    const found = this.status.find(
      ({ kind, metadata }) => kind === 'Exposure' && metadata.name === name,
    );
    return found as Exposure | undefined;
  }

  /** Returns a condition as `True Ready: sentence`. */
  condition(name: string, type: string): string | undefined {
    const conditions = this.exposure(name)?.status?.conditions;
    const found = conditions?.find((condition) => condition.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }

  async untilCondition(name: string, type: string, pattern: RegExp): Promise<string> {
    return this.until(`${type} of ${name} is ${pattern}`, () => {
      const text = this.condition(name, type);
      return text !== undefined && pattern.test(text) && text;
    });
  }

  /** Polls until the function returns a value. @throws with the log if that takes too long, or if the program ends */
  async until<T>(
    description: string,
    observe: () => T | undefined | false | Promise<T | undefined | false>,
  ): Promise<T> {
    const deadline = performance.now() + 200_000;
    for (;;) {
      const value = await observe();
      if (value !== undefined && value !== false) return value;
      const isLate = performance.now() > deadline;
      if (isLate || this.hasExited) {
        const log = this.log.map((line) => JSON.stringify(line)).join('\n');
        throw new Error(`${isLate ? 'not in time' : 'it ended'}: ${description}\n${log}`);
      }
      await Bun.sleep(10);
    }
  }

  /** Gets a page from the HTTP server of the program. */
  async http(path: string): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.httpPort}${path}`);
      return { status: response.status, text: await response.text() };
    } catch {
      return { status: 0, text: '' }; // not listening yet
    }
  }

  /** Returns a metric by name. */
  async number(name: string): Promise<number> {
    const { text } = await this.http('/metrics');
    const line = text.split('\n').find((found) => found.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  }

  /**
   * Returns the response of a tenant's API server to a client that connects through the gateway by host and verifies
   * with the tenant's CA.
   */
  async get(tenant: LabTenant, path: string, options: GetOptions = {}): Promise<string> {
    const { credentials } = tenant.server.access;
    if (credentials.kind !== 'token') throw new Error('the lab authenticates clients by tokens');
    const socket = connect({
      host: '127.0.0.1',
      port: this.port,
      ca: tenant.authority.certificate,
      servername: tenant.apiHost,
      ...options,
    });
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${tenant.apiHost}\r\nAuthorization: Bearer ${credentials.token}\r\nConnection: close\r\n\r\n`,
    );
    let response = '';
    socket.on('data', (bytes) => (response += bytes.toString()));
    await once(socket, 'close');
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    if (!this.#isOwner) return;
    for (const tenant of this.tenants) await tenant[Symbol.asyncDispose]();
    rmSync(this.root, { recursive: true });
  }
}

/** Options of {@link FolderLab.get}. */
export interface GetOptions {
  readonly servername?: string;
  readonly checkServerIdentity?: () => undefined;
  readonly socket?: import('node:net').Socket;
}

/** Returns the content of a tenant's file. */
export function tenantText({ name, port }: LabTenant): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata:
  name: ${name}
  namespace: ${TENANTS}
spec:
  controlPlane:
    type: Endpoints
    endpoints:
      api: ["127.0.0.1:${port}"]
    caSecretRef: {name: ${name}-ca}
    kubeconfigSecretRef: {name: ${name}-admin}
---
apiVersion: v1
kind: Secret
metadata: {name: ${name}-ca, namespace: ${TENANTS}}
files: {tls.crt: pki/ca.crt}
---
apiVersion: v1
kind: Secret
metadata: {name: ${name}-admin, namespace: ${TENANTS}}
files: {admin.conf: admin.conf}
`;
}
