/**
 * For tests only: a tenant whose API server responds as a test specifies, and otherwise as a small one without watches.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { issueLeaf } from '../../pki/leaf.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { objectOf, secretOf } from './objects.ts';
import type { OperatorLab } from './operator-lab.ts';
import { TENANTS } from './namespaces.ts';

/** A request to the tenant's API server. */
export interface HostileCall {
  readonly path: string;
  readonly isWatch: boolean;
  readonly response: ServerResponse;
}

/** The response to a request; false: the usual one. */
export type HostileAnswer = (call: HostileCall, tenant: HostileTenant) => boolean;

/** One server, with an Exposure for each name. */
export class HostileTenant implements Disposable {
  static readonly token = 'tok-SECRET-12345';
  /** The applied objects, by path. */
  readonly objects = new Map<string, ApiObject>();
  readonly #server: Server;
  readonly #answer: HostileAnswer;
  #version = 1;

  private constructor(server: Server, answer: HostileAnswer) {
    this.#server = server;
    this.#answer = answer;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#serve(request, response);
    });
  }

  /** Starts the server, with a Service and Secrets for each name. */
  static async start(
    lab: OperatorLab,
    names: readonly string[],
    answer: HostileAnswer,
  ): Promise<HostileTenant> {
    const ca = await makeCa();
    const hosts = names.map((name) => `${TENANTS}-${name}.k8s.example.test`);
    const leaf = await issueLeaf({
      ca,
      names: ['kubernetes', 'localhost', ...hosts],
      addresses: ['127.0.0.1'],
      now: new Date(),
    });
    const server = createServer({ cert: leaf.certificate, key: leaf.key });
    const tenant = new HostileTenant(server, answer);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const kubeconfig = writeKubeconfig({
      server: `https://localhost:${port}`,
      ca: ca.certificate,
      names: { cluster: 'hostile', user: 'admin' },
      credentials: { token: HostileTenant.token },
    });
    const ports = [{ name: 'api', port, protocol: 'TCP' }];
    for (const name of names) {
      const at = (suffix = '') => ({ name: `${name}${suffix}`, namespace: TENANTS });
      const spec = { clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1'], ports };
      lab.management.seed(
        objectOf('Service', at(), { spec }),
        secretOf(at('-ca'), { 'tls.crt': ca.certificate, 'tls.key': ca.key }),
        secretOf(at('-kubeconfig'), { 'admin.conf': kubeconfig }),
      );
    }
    return tenant;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'https://localhost');
    const isWatch = searchParams.has('watch');
    if (this.#answer({ path, isWatch, response }, this)) return;
    if (isWatch) beginStream(response);
    else if (request.method === 'PATCH') answerJson(response, this.#applied(path, chunks));
    // Leases are not stored, so that the Exposures of all names own the tenant.
    else if (request.method !== 'GET') answerJson(response, this.#echo(chunks), 201);
    else this.#read(path, response);
  }

  #applied(path: string, chunks: readonly Buffer[]): ApiObject {
    const object = this.#echo(chunks, this.objects.get(path)?.metadata.uid);
    this.objects.set(path, object);
    return object;
  }

  #echo(chunks: readonly Buffer[], uid: string = crypto.randomUUID()): ApiObject {
    const sent = JSON.parse(Buffer.concat(chunks).toString()) as ApiObject;
    const resourceVersion = String(++this.#version);
    return { ...sent, metadata: { ...sent.metadata, uid, resourceVersion, generation: 1 } };
  }

  #read(path: string, response: ServerResponse): void {
    const object = this.objects.get(path);
    if (object !== undefined) answerJson(response, object);
    else if (path === '/version') answerJson(response, { gitVersion: 'v1.33.0' });
    else if (path.endsWith('/services/kubernetes')) {
      const metadata = { name: 'kubernetes', namespace: 'default' };
      answerJson(response, objectOf('Service', metadata, { spec: { clusterIPs: ['10.96.0.1'] } }));
    } else if (/\/(endpointslices|daemonsets|nodes|pods)$/.test(path)) {
      const items = [...this.objects]
        .filter(([at]) => at.startsWith(`${path}/`))
        .map(([, value]) => value);
      answerJson(response, { kind: 'List', metadata: { resourceVersion: '1' }, items });
    } else {
      answerJson(response, { kind: 'Status', code: 404, reason: 'NotFound', message: 'no' }, 404);
    }
  }

  /** Not awaited: the operator dials it as long as it runs. */
  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A complete response. */
export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** The beginning of a response that does not end. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
}
