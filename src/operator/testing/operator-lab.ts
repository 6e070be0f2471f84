/**
 * For tests only: an operator with a small management cluster and small tenants, all in this process and with a fake clock. On
 * request with real TLS on loopback, and with a gateway that carries the probes.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import type { TenantRoute, TenantRouteSpec } from '../../api/tenant-route.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import { KubernetesRoutes } from '../../discovery/kubernetes-routes.ts';
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import { GatewayLab } from '../../gateway/testing/lab.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { steadyWrite } from '../../kube/testing/steady-write.ts';
import type { TestCluster } from '../../kube/testing/test-cluster.ts';
import { createLogger } from '../../telemetry/log.ts';
import { EDGE_RESOURCES } from '../../management/api-discovery.ts';
import { Operator, type OperatorOptions } from '../operator.ts';
import { memoryEnvironment, tlsEnvironment, type LabEnvironment } from './lab-environment.ts';
import { LabTenant, type LabTenantOptions } from './lab-tenant.ts';
import { encoded, objectOf, secretOf } from './objects.ts';
import { SYSTEM_NAMESPACE, TENANTS } from './namespaces.ts';

/** Options of {@link OperatorLab.start}. */
export interface LabOptions extends Partial<Omit<OperatorOptions, 'client' | 'log'>> {
  /** The spec of Edge `shared`. Default: driver snicket at 127.0.0.1. */
  readonly edge?: object;
  /** Whether a gateway listens at the address of the edge. Default false. */
  readonly hasGateway?: boolean;
  /** Whether clusters listen on loopback, and probes use it. Default: with a gateway. */
  readonly hasSockets?: boolean;
  /** How the operator and users connect to clusters. With TLS, the clock is the system clock. Default `memory`. */
  readonly transport?: 'memory' | 'tls';
  /** Another lab whose clock and tenants this one shares. Default: none. */
  readonly beside?: OperatorLab;
  /** The kinds that the management cluster serves. Default: all if `edge` is set, otherwise those that no edge needs. */
  readonly resources?: readonly Resource[];
  /** Default true. */
  readonly isOperatorRunning?: boolean;
}

/** Every kind. */
export const ALL_KINDS: readonly Resource[] = Object.values(RESOURCES);
/** Kinds of edges. Leaving them out saves their watches. */
const EDGE_KINDS = new Set([...ROUTE_RESOURCES, ...EDGE_RESOURCES].map(({ kind }) => kind));
/** All kinds except those of edges. */
export const NON_EDGE_KINDS = ALL_KINDS.filter(({ kind }) => !EDGE_KINDS.has(kind));

/** A management cluster, an operator, and tenants. */
export class OperatorLab implements AsyncDisposable {
  readonly management: TestCluster;
  readonly log: Record<string, unknown>[] = [];
  readonly tenants: LabTenant[] = [];
  /** A user of the management cluster who is not Snicket. */
  readonly user: KubeClient;
  readonly gateway: GatewayLab | undefined;
  readonly environment: LabEnvironment;
  readonly #operatorOptions: Partial<OperatorOptions>;
  readonly #beside: OperatorLab | undefined;
  #operator: Operator | undefined;
  #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(
    environment: LabEnvironment,
    management: TestCluster,
    gateway: GatewayLab | undefined,
    operatorOptions: Partial<OperatorOptions>,
    beside: OperatorLab | undefined,
  ) {
    this.environment = environment;
    this.management = management;
    this.gateway = gateway;
    this.#operatorOptions = operatorOptions;
    this.#beside = beside;
    this.user = management.client({ fieldManager: 'user' });
  }

  static async start(options: LabOptions = {}): Promise<OperatorLab> {
    const {
      edge,
      hasGateway = false,
      hasSockets = hasGateway,
      transport = 'memory',
      beside,
      resources = edge === undefined ? NON_EDGE_KINDS : ALL_KINDS,
      isOperatorRunning = true,
      ...operatorOptions
    } = options;
    const environment =
      beside?.environment ??
      (transport === 'tls' ? tlsEnvironment() : memoryEnvironment(hasSockets));
    const management = await environment.start({ resources });
    management.seed(objectOf('Namespace', { name: TENANTS }));
    management.seed(objectOf('Namespace', { name: SYSTEM_NAMESPACE }));
    const client = management.client({ fieldManager: 'gateway' });
    const gateway = hasGateway
      ? await GatewayLab.start({
          hasRoutesFile: false,
          engine: 'bun',
          openRoutes: (sink) => new KubernetesRoutes({ client, clock: environment.clock }, sink),
        })
      : undefined;
    const lab = new OperatorLab(environment, management, gateway, operatorOptions, beside);
    await lab.applyEdge(edge);
    if (isOperatorRunning) lab.startOperator();
    return lab;
  }

  get operator(): Operator {
    if (this.#operator === undefined) throw new Error('the operator is not running');
    return this.#operator;
  }

  startOperator(options: Partial<OperatorOptions> = {}): void {
    const write = (line: string) => this.log.push(JSON.parse(line) as Record<string, unknown>);
    this.#ended = new AbortController();
    this.#operator = new Operator({
      client: this.management.client(),
      namespace: SYSTEM_NAMESPACE,
      identity: 'lab',
      proxyImage: 'snicket.test/snicket:1',
      lookup: async () => ['127.0.0.1'],
      log: createLogger({ level: 'debug', write }),
      ...this.environment.operatorOptions,
      ...this.#operatorOptions,
      ...options,
    });
    this.#running = this.#operator.run(this.#ended.signal);
    this.#running.catch((error: unknown) => this.log.push({ msg: 'ended', error: String(error) }));
  }

  /** Stops the operator, as a signal does. */
  async stopOperator(): Promise<void> {
    this.#ended.abort();
    await this.#running.catch(() => {}); // in the log
  }

  /** Writes the Edge, as a user does. */
  async applyEdge(spec: object = {}, name = 'shared', annotations = {}): Promise<void> {
    const edge = objectOf(
      'Edge',
      { name, annotations },
      {
        spec: {
          driver: 'snicket',
          domain: 'example.test',
          addresses: ['127.0.0.1'],
          ...(this.gateway !== undefined && { port: this.gateway.port }),
          ...spec,
        },
      },
    );
    await steadyWrite(async () => this.user.apply(edge));
  }

  /** A tenant without objects in the management cluster. */
  async startTenant(name: string, options: LabTenantOptions = {}): Promise<LabTenant> {
    const others = this.tenants.length + (this.#beside?.tenants.length ?? 0);
    const tenant = await LabTenant.start(name, {
      environment: this.environment,
      number: others,
      ...options,
    });
    this.tenants.push(tenant);
    return tenant;
  }

  /** A tenant, with its Service and Secrets in the management cluster. */
  async addTenant(name: string, options: LabTenantOptions = {}): Promise<LabTenant> {
    const tenant = await this.startTenant(name, options);
    this.knows(tenant, name);
    return tenant;
  }

  /** Writes the objects of a tenant to the management cluster. The tenant may be another lab's. */
  knows(tenant: LabTenant, name: string): void {
    const { port, authority, kubeconfig } = tenant;
    const at = (suffix = '') => ({ name: `${name}${suffix}`, namespace: TENANTS });
    const ports = [{ name: 'api', port, protocol: 'TCP' }];
    this.management.seed(
      objectOf('Service', at(), {
        spec: { clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1'], ports },
      }),
      objectOf(
        'EndpointSlice',
        { ...at('-1'), labels: { 'kubernetes.io/service-name': name } },
        { addressType: 'IPv4', ports, endpoints: [{ addresses: ['127.0.0.1'] }] },
      ),
      secretOf(at('-ca'), { 'tls.crt': authority.certificate, 'tls.key': authority.key }),
      secretOf(at('-kubeconfig'), { 'admin.conf': kubeconfig }),
    );
  }

  /** Applies an Exposure for a tenant, as a user does. */
  async expose(name: string, spec: Record<string, unknown> = {}, of = name): Promise<void> {
    const service = this.management.read(RESOURCES.service, { name: of, namespace: TENANTS });
    const { ports = [] } = (service as { spec?: { ports?: { port: number }[] } }).spec ?? {};
    const controlPlane = {
      type: 'Service',
      service: { name: of, apiPort: ports[0]?.port },
      caSecretRef: { name: `${of}-ca` },
      kubeconfigSecretRef: { name: `${of}-kubeconfig` },
    };
    const metadata = { name, namespace: TENANTS };
    const exposure = objectOf('Exposure', metadata, {
      spec: { controlPlane, edgeRef: { name: 'shared' }, ...spec },
    });
    await steadyWrite(async () => this.user.apply(exposure));
  }

  /** A tenant with an Exposure that is reconciled. */
  async addExposed(name: string, spec: Record<string, unknown> = {}): Promise<LabTenant> {
    const tenant = await this.addTenant(name);
    await this.expose(name, spec);
    await this.untilCondition(name, 'WorkersReady', /^True/);
    return tenant;
  }

  async unexpose(name: string): Promise<void> {
    const key = { name, namespace: TENANTS };
    await steadyWrite(async () => this.user.delete(RESOURCES.exposure, key));
  }

  /** Deletes an Exposure, and waits until it is gone. */
  async untilGone(name: string): Promise<void> {
    await this.unexpose(name);
    await this.until(`Exposure ${name} is gone`, () => this.exposure(name) === undefined);
  }

  /** Waits until something holds, and returns it. */
  async until<T>(state: string, observe: () => T | undefined | false): Promise<T> {
    return this.environment.until(state, observe);
  }

  /** Waits until a promise settles, and returns its value. */
  async settled<T>(state: string, work: Promise<T>): Promise<T> {
    return this.environment.settled(state, work);
  }

  exposure(name: string): KubeObject | undefined {
    return this.management.read(RESOURCES.exposure, { name, namespace: TENANTS });
  }

  statusOf(name: string): ExposureStatus | undefined {
    return (this.exposure(name) as { status?: ExposureStatus } | undefined)?.status;
  }

  /** All TenantRoutes. */
  tenantRoutes(): readonly TenantRoute[] {
    const objects: readonly KubeObject[] = this.management.readAll();
    return objects.filter(isTenantRoute);
  }

  /** The specs of all TenantRoutes of an Exposure, by host. */
  routesOf(name: string): readonly TenantRouteSpec[] {
    return this.tenantRoutes()
      .map(({ spec }) => spec)
      .filter(({ exposureRef }) => exposureRef.name === name)
      .toSorted((a, b) => (a.host < b.host ? -1 : 1));
  }

  /** The API hosts of an Exposure, including previous ones. */
  apiHostsOf(name: string): readonly string[] {
    const api = this.routesOf(name).filter(({ type }) => type === 'API');
    return [...new Set(api.map(({ host }) => host))];
  }

  /** `True Ready: sentence`. */
  condition(name: string, type: string): string | undefined {
    const found = this.statusOf(name)?.conditions?.find((condition) => condition.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }

  async untilCondition(name: string, type: string, pattern: RegExp): Promise<string> {
    try {
      return await this.until(`${type} of ${name} is ${pattern}`, () => {
        const text = this.condition(name, type);
        return text !== undefined && pattern.test(text) && text;
      });
    } catch (error) {
      const conditions = JSON.stringify(this.statusOf(name)?.conditions, undefined, 1);
      throw new Error(`${String(error)}; the conditions are ${conditions}`, { cause: error });
    }
  }

  /** An object of the management cluster, in the namespace of the tenants. */
  read(resource: Resource, name: string): KubeObject | undefined {
    return this.management.read(resource, { name, namespace: TENANTS });
  }

  /** Changes an object of the management cluster, as a user does. */
  async change(resource: Resource, name: string, patch: object): Promise<void> {
    const key = resource.namespaced ? { name, namespace: TENANTS } : { name };
    await steadyWrite(async () => this.user.patch(resource, key, 'merge', patch));
  }

  async changeSecret(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    await this.change(RESOURCES.secret, name, { data: encoded(files) });
  }

  /** A value on the operator's metrics page, by its name without `snicket_operator_` and its labels as on the page. */
  number(name: string, labels = ''): number {
    const start = `snicket_operator_${name}${labels === '' ? '' : `{${labels}}`} `;
    const lines = this.operator.metrics.text().split('\n');
    return Number(lines.find((line) => line.startsWith(start))?.slice(start.length) ?? 0);
  }

  /** Waits for this many reconciles of Exposures. */
  async untilReconciled(times: number): Promise<void> {
    const runs = () => this.number('reconciles_total', 'controller="exposure"');
    const end = runs() + times;
    await this.until(`${times} runs`, () => runs() >= end);
  }

  /** The number of writes to all API servers, without renewals of Leases. */
  writes(): number {
    const servers = [this.management, ...this.tenants.map(({ server }) => server)];
    const isChange = ({ plural }: { readonly plural: string }) => plural !== RESOURCES.lease.plural;
    return servers.reduce((sum, server) => sum + server.writes().filter(isChange).length, 0);
  }

  /** Waits until nothing is written during this many reconciles. */
  async untilQuiet(runs: number): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const before = this.writes();
      await this.untilReconciled(runs);
      if (this.writes() === before) return;
    }
    throw new Error('it does not become steady');
  }

  /** The reasons of all events about an Exposure. */
  eventsOf(name: string): readonly string[] {
    return this.management
      .readAll()
      .filter(({ kind }) => kind === 'Event')
      .map((event) => event as unknown as { reason: string; regarding: { name: string } })
      .filter(({ regarding }) => regarding.name === name)
      .map(({ reason }) => reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    for (const tenant of this.tenants) await tenant[Symbol.asyncDispose]();
    await this.gateway?.[Symbol.asyncDispose]();
    await this.management[Symbol.asyncDispose]();
  }
}
