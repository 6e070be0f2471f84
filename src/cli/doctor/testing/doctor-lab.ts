/**
 * For tests only: a tenant with konnectivity and a worker, reached through a gateway. The operator reconciles it and
 * then stops, so that what a test breaks stays broken.
 */
import { expect } from 'bun:test';
import 'reflect-metadata'; // must be imported before x509
import { SubjectAlternativeNameExtension } from '@peculiar/x509';
import type { Lookup } from '../../../probe/hops/dns.ts';
import { neverRespond, respondWith, VERSION_RESPONSE } from '../../../probe/testing/responses.ts';
import { createClient } from '../../../kube/client/fetch-client.ts';
import type { Driver } from '../../../api/edge.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { ManagementSnapshot } from '../../../management/management-snapshot.ts';
import type { LabTenant } from '../../../operator/testing/lab-tenant.ts';
import { OperatorLab } from '../../../operator/testing/operator-lab.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../../../operator/testing/namespaces.ts';
import { issueLeaf } from '../../../pki/leaf.ts';
import { makeCa, type TestCa } from '../../../pki/testing/test-ca.ts';
import { ApiServer, type ApiServerOptions } from '../../../proxy/testing/api-server.ts';
import type { Pair } from '../../../net/testing/certificates.ts';
import type { Examination } from '../examination.ts';
import { examineAll } from '../examine-exposures.ts';
import { TestIo } from '../../testing/test-io.ts';

/** The hosts of the tenant. */
export const API_HOST = `${TENANTS}-blue.k8s.example.test`;
export const KONNECTIVITY_HOST = `${TENANTS}-blue.konnectivity.example.test`;

const KONNECTIVITY_PORT = 8132;
/** Where the operator points the kubernetes Service of a tenant. */
const VIRTUAL_ADDRESS = '100.64.64.1';
const DAY_MS = 24 * 3600 * 1000;

/** A lab with a healthy path to a tenant. */
export class DoctorLab implements AsyncDisposable {
  readonly operator: OperatorLab;
  readonly tenant: LabTenant;
  /** What DNS answers for the hosts. */
  lookup: Lookup = async () => ['127.0.0.1'];
  readonly #servers = new AsyncDisposableStack();
  #konnectivityPort = 0;

  private constructor(operator: OperatorLab, tenant: LabTenant) {
    this.operator = operator;
    this.tenant = tenant;
  }

  static async start(): Promise<DoctorLab> {
    const operator = await OperatorLab.start({ transport: 'tls', hasGateway: true });
    const tenant = await operator.addTenant('blue');
    const lab = new DoctorLab(operator, tenant);
    const serving = await lab.certificate([KONNECTIVITY_HOST]);
    const konnectivity = await lab.serve({
      serving,
      protocols: ['h2'],
      onConnection: neverRespond,
    });
    lab.#konnectivityPort = konnectivity.port;
    await lab.leadTo(tenant.port);
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    await operator.expose('blue', {
      controlPlane: {
        type: 'Service',
        service: { name: 'blue', apiPort: tenant.port, konnectivityPort: KONNECTIVITY_PORT },
        caSecretRef: { name: 'blue-ca' },
        kubeconfigSecretRef: { name: 'blue-kubeconfig' },
      },
    });
    await operator.untilCondition('blue', 'Ready', /^True/);
    await operator.untilCondition('blue', 'Reachable', /^True/);
    await operator.stopOperator();
    return lab;
  }

  /** Issues a certificate, by default from the CA of the tenant. */
  async certificate(names: readonly string[], ca: TestCa = this.tenant.authority): Promise<Pair> {
    const { certificate, key } = await issueLeaf({ ca, names, addresses: [], now: new Date() });
    return { cert: certificate, key };
  }

  /** Issues a certificate from the CA of the tenant that expired yesterday. */
  async expiredCertificate(): Promise<Pair> {
    const { certificate: cert, key } = await makeCa({
      parent: this.tenant.authority,
      name: 'CN=kube-apiserver',
      notAfter: new Date(Date.now() - DAY_MS),
      extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: API_HOST }])],
    });
    return { cert, key };
  }

  /** Starts a TLS server on this machine that answers as an API server does. */
  async serve(options: ApiServerOptions): Promise<ApiServer> {
    const onConnection = respondWith(VERSION_RESPONSE);
    return this.#servers.use(await ApiServer.start({ onConnection, ...options }));
  }

  /** Points the tenant's Service to other ports of this machine. */
  async leadTo(api: number, konnectivity = this.#konnectivityPort): Promise<void> {
    const protocol = 'TCP';
    const [first, second] = [
      { name: 'api', protocol },
      { name: 'konnectivity', protocol },
    ];
    const { port } = this.tenant;
    await this.operator.change(RESOURCES.service, 'blue', {
      spec: {
        ports: [
          { ...first, port },
          { ...second, port: KONNECTIVITY_PORT },
        ],
      },
    });
    await this.operator.change(RESOURCES.endpointSlice, 'blue-1', {
      ports: [
        { ...first, port: api },
        { ...second, port: konnectivity },
      ],
    });
  }

  /** Sets the driver of the TenantRoute for konnectivity: the gateway serves those of driver snicket. */
  async routeKonnectivity(driver: Driver): Promise<void> {
    const { user } = this.operator;
    for (const { metadata, spec } of this.operator.tenantRoutes()) {
      if (spec.type !== 'Konnectivity') continue;
      await user.patch(RESOURCES.tenantRoute, metadata, 'merge', { spec: { driver } });
    }
  }

  /** Writes the endpoints of the tenant's kubernetes Service as a field manager. */
  async writeEndpoints(fieldManager: string, address: string): Promise<void> {
    const client = createClient(this.tenant.server.access, { fieldManager });
    const key = { namespace: 'default', name: 'kubernetes' };
    const endpoints = [{ addresses: [address] }];
    await client.patch(RESOURCES.endpointSlice, key, 'merge', { endpoints });
  }

  /** Repairs everything. */
  async restore(): Promise<void> {
    const { authority, kubeconfig, port, controllers } = this.tenant;
    this.lookup = async () => ['127.0.0.1'];
    await this.operator.applyEdge();
    await this.leadTo(port);
    await this.routeKonnectivity('snicket');
    await this.operator.changeSecret('blue-ca', {
      'tls.crt': authority.certificate,
      'tls.key': authority.key,
    });
    await this.operator.changeSecret('blue-kubeconfig', { 'admin.conf': kubeconfig });
    await this.writeEndpoints('snicket', VIRTUAL_ADDRESS);
    controllers.resume();
    await this.untilFailures();
  }

  /** Examines the Exposure. */
  async examine(): Promise<Examination> {
    return examineIn(this.operator, 'blue', async (host) => this.lookup(host));
  }

  /** Returns the codes of all failing hops, and then those of findings. */
  async failures(): Promise<readonly string[]> {
    return failuresIn(await this.examine());
  }

  /** Waits until exactly these fail, because the gateway observes a change with a delay. */
  async untilFailures(...codes: readonly string[]): Promise<void> {
    const end = performance.now() + 30_000;
    let last = await this.failures();
    while (!Bun.deepEquals(last, codes) && performance.now() < end) last = await this.failures();
    expect(last).toEqual(codes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers.disposeAsync();
    await this.operator[Symbol.asyncDispose]();
  }
}

/** Examines an Exposure of a lab. By default, DNS points its hosts to this machine. */
export async function examineIn(
  { management: { access } }: OperatorLab,
  name: string,
  lookup: Lookup = async () => ['127.0.0.1'],
): Promise<Examination> {
  const signal = AbortSignal.timeout(60_000);
  const management = await ManagementSnapshot.read(createClient(access), signal);
  const chosen = management.exposures.filter(({ metadata }) => metadata.name === name);
  const viewpoint = {
    management,
    namespace: SYSTEM_NAMESPACE,
    proxyImage: 'snicket.test/snicket:1',
  };
  const options = { ...viewpoint, timeoutMs: 30_000, signal, lookup };
  for await (const found of examineAll(new TestIo(), chosen, options)) return found;
  throw new Error(`there is no Exposure ${name}`);
}

/** Returns the codes of failing hops, and then those of findings. */
export function failuresIn({ hops, findings }: Examination): readonly string[] {
  return [
    ...hops.flatMap(({ state, code }) => (state === 'Fail' ? [code] : [])),
    ...findings.map(({ code }) => code),
  ];
}
