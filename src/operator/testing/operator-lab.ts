/**
 * For tests only: an operator in this process, between a small management cluster and small tenants, all with real TLS
 * on loopback.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { createClient } from '../../kube/fetch-client.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import type { ApiObject } from '../../kube/testing/object-store.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { createLogger } from '../../telemetry/log.ts';
import { Operator, type OperatorOptions } from '../operator.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';

/** A tenant of the lab. */
export interface LabTenant {
  readonly name: string;
  readonly server: TestApiServer;
  readonly apiHost: string;
}

/** Namespace of everything that an Exposure names. */
export const TENANTS = 'tenants';
/** The operator's own. */
export const SYSTEM = 'snicket-system';

/** Options of {@link OperatorLab.start}. */
export interface LabOptions extends Partial<Omit<OperatorOptions, 'client' | 'log'>> {
  /** Default: driver snicket at 127.0.0.1. */
  readonly edge?: object;
}

/** Waits for something that comes by itself. @throws after the deadline, with the name of what did not come. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false,
  deadlineMs = 10_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await Bun.sleep(5);
  }
}

/** A management cluster, an operator, and tenants. */
export class OperatorLab implements AsyncDisposable {
  readonly management: TestApiServer;
  readonly log: Record<string, unknown>[] = [];
  readonly tenants: LabTenant[] = [];
  readonly #options: LabOptions;
  #operator: Operator | undefined;
  #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(management: TestApiServer, options: LabOptions) {
    this.management = management;
    this.#options = options;
  }

  static async start(options: LabOptions = {}): Promise<OperatorLab> {
    const management = await TestApiServer.start();
    const lab = new OperatorLab(management, options);
    management.seed(
      namespace(TENANTS),
      namespace(SYSTEM),
      object(
        'Edge',
        { name: 'shared' },
        {
          spec: options.edge ?? {
            driver: 'snicket',
            domain: 'example.test',
            addresses: ['127.0.0.1'],
          },
        },
      ),
    );
    lab.startOperator();
    return lab;
  }

  get operator(): Operator {
    if (this.#operator === undefined) throw new Error('the operator is not running');
    return this.#operator;
  }

  startOperator(): void {
    const write = (line: string) => this.log.push(JSON.parse(line) as Record<string, unknown>);
    this.#ended = new AbortController();
    const { edge: _edge, ...options } = this.#options;
    this.#operator = new Operator({
      client: createClient(this.management.access),
      ...{ namespace: SYSTEM, identity: 'lab', proxyImage: 'snicket.test/snicket:1' },
      log: createLogger({ level: 'debug', write }),
      ...options,
    });
    this.#running = this.#operator.run(this.#ended.signal);
    this.#running.catch((error: unknown) => this.log.push({ msg: 'ended', error: String(error) }));
  }

  /** As by a signal: it ends its work and leaves everything as it is. */
  async stopOperator(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  /** A tenant with its Service and Secrets in the management cluster. Its API server is as one without workers. */
  async addTenant(name: string): Promise<LabTenant> {
    const apiHost = `${TENANTS}-${name}.k8s.example.test`;
    const server = await TestApiServer.start({ names: [apiHost] });
    server.seed(
      object(
        'Service',
        { name: 'kubernetes', namespace: 'default' },
        {
          spec: {
            clusterIP: '10.96.0.1',
            clusterIPs: ['10.96.0.1'],
            ports: [{ name: 'https', port: 443 }],
          },
        },
      ),
    );
    const port = Number(new URL(server.url).port);
    const { ca, access } = server;
    const { credentials } = access;
    const token = credentials.kind === 'token' ? credentials.token : '';
    const kubeconfig = writeKubeconfig({
      ...{ server: `https://localhost:${port}`, ca, names: { cluster: name, user: 'admin' } },
      credentials: { token },
    });
    const authority = await makeCa();
    this.management.seed(
      object(
        'Service',
        { name, namespace: TENANTS },
        {
          spec: {
            clusterIP: '127.0.0.1',
            clusterIPs: ['127.0.0.1'],
            ports: [{ name: 'api', port }],
          },
        },
      ),
      secret(`${name}-ca`, { 'tls.crt': authority.certificate, 'tls.key': authority.key }),
      secret(`${name}-kubeconfig`, { 'admin.conf': kubeconfig }),
    );
    const tenant = { name, server, apiHost };
    this.tenants.push(tenant);
    return tenant;
  }

  /** Applies an Exposure for a tenant, as a user does. */
  async expose(name: string, spec: Record<string, unknown> = {}): Promise<void> {
    const service = this.management.read(RESOURCES.service, { name, namespace: TENANTS });
    const { ports = [] } = (service as { spec?: { ports?: { port: number }[] } }).spec ?? {};
    await createClient(this.management.access, { fieldManager: 'user' }).apply(
      object(
        'Exposure',
        { name, namespace: TENANTS },
        {
          spec: {
            controlPlane: {
              service: { name, apiPort: ports[0]?.port },
              caSecret: { name: `${name}-ca` },
              kubeconfigSecret: { name: `${name}-kubeconfig` },
            },
            ...{ edge: 'shared', ...spec },
          },
        },
      ),
    );
  }

  async unexpose(name: string): Promise<void> {
    const client = createClient(this.management.access, { fieldManager: 'user' });
    await client.delete(RESOURCES.exposure, { name, namespace: TENANTS });
  }

  statusOf(name: string): ExposureStatus | undefined {
    const found = this.management.read(RESOURCES.exposure, { name, namespace: TENANTS });
    return (found as { status?: ExposureStatus } | undefined)?.status;
  }

  /** `True: reason`, as kubectl would show it. */
  condition(name: string, type: string): string | undefined {
    const found = this.statusOf(name)?.conditions?.find((condition) => condition.type === type);
    return found === undefined ? undefined : `${found.status}: ${found.reason}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    for (const { server } of this.tenants) await server[Symbol.asyncDispose]();
    await this.management[Symbol.asyncDispose]();
  }
}

function object(kind: string, metadata: ObjectKey, rest: object): ApiObject {
  const resource = Object.values(RESOURCES).find((one) => one.kind === kind);
  return { apiVersion: resource?.apiVersion ?? 'v1', kind, metadata, ...rest };
}

function namespace(name: string): ApiObject {
  return object('Namespace', { name }, {});
}

function secret(name: string, files: Readonly<Record<string, string>>): ApiObject {
  const data = Object.fromEntries(
    Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return object('Secret', { name, namespace: TENANTS }, { data });
}
