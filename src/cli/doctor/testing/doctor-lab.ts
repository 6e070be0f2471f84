/**
 * For tests only: a tenant with konnectivity and a worker, reached through a gateway and brought about by an operator, who
 * then leaves: what is broken afterwards stays broken.
 */
import { expect } from 'bun:test';
import 'reflect-metadata'; // before x509, which cannot be loaded without
import { SubjectAlternativeNameExtension } from '@peculiar/x509';
import type { Lookup } from '../../../probe/hops/dns.ts';
import { silent, answering, VERSION_ANSWER } from '../../../probe/testing/answers.ts';
import { createClient } from '../../../kube/client/fetch-client.ts';
import type { Driver } from '../../../api/edge.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { ManagementSnapshot } from '../../../management/management-snapshot.ts';
import type { LabTenant } from '../../../operator/testing/lab-tenant.ts';
import { OperatorLab } from '../../../operator/testing/operator-lab.ts';
import { SYSTEM, TENANTS } from '../../../operator/testing/places.ts';
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
/** Where the operator lets the kubernetes Service of a tenant lead. */
const VIRTUAL_ADDRESS = '100.64.64.1';
const DAY_MS = 24 * 3600 * 1000;

/** A path that works. */
export class DoctorLab implements AsyncDisposable {
  readonly operator: OperatorLab;
  readonly tenant: LabTenant;
  /** Where the hosts lead, by DNS. */
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
    const konnectivity = await lab.serve({ serving, protocols: ['h2'], onConnection: silent });
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

  /** A certificate of the tenant's CA, or of another. */
  async certificate(names: readonly string[], ca: TestCa = this.tenant.authority): Promise<Pair> {
    const { certificate, key } = await issueLeaf({ ca, names, addresses: [], now: new Date() });
    return { cert: certificate, key };
  }

  /** One of the tenant's CA that ended yesterday. */
  async expiredCertificate(): Promise<Pair> {
    const { certificate: cert, key } = await makeCa({
      parent: this.tenant.authority,
      name: 'CN=kube-apiserver',
      notAfter: new Date(Date.now() - DAY_MS),
      extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: API_HOST }])],
    });
    return { cert, key };
  }

  /** A server of TLS on this machine, which answers as an API server does. */
  async serve(options: ApiServerOptions): Promise<ApiServer> {
    const onConnection = answering(VERSION_ANSWER);
    return this.#servers.use(await ApiServer.start({ onConnection, ...options }));
  }

  /** Lets the tenant's Service lead to other ports of this machine. */
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

  /** Writes the endpoints of the tenant's kubernetes Service, as somebody. */
  async writeEndpoints(fieldManager: string, address: string): Promise<void> {
    const client = createClient(this.tenant.server.access, { fieldManager });
    const key = { namespace: 'default', name: 'kubernetes' };
    const endpoints = [{ addresses: [address] }];
    await client.patch(RESOURCES.endpointSlice, key, 'merge', { endpoints });
  }

  /** Puts everything right again. */
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

  /** The Exposure as the doctor finds it. */
  async examine(): Promise<Examination> {
    return examineIn(this.operator, 'blue', async (host) => this.lookup(host));
  }

  /** Everything that fails: the codes of hops, then those of findings. */
  async failures(): Promise<readonly string[]> {
    return failuresIn(await this.examine());
  }

  /** Waits until these fail and nothing else, for the gateway has to hear of a change first. */
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

/** An Exposure of a lab as the doctor finds it. DNS leads its hosts to this machine, unless told otherwise. */
export async function examineIn(
  { management: { access } }: OperatorLab,
  name: string,
  lookup: Lookup = async () => ['127.0.0.1'],
): Promise<Examination> {
  const signal = AbortSignal.timeout(60_000);
  const management = await ManagementSnapshot.read(createClient(access), signal);
  const chosen = management.exposures.filter(({ metadata }) => metadata.name === name);
  const viewpoint = { management, namespace: SYSTEM, proxyImage: 'snicket.test/snicket:1' };
  const options = { ...viewpoint, timeoutMs: 30_000, signal, lookup };
  for await (const found of examineAll(new TestIo(), chosen, options)) return found;
  throw new Error(`there is no Exposure ${name}`);
}

/** The codes of all that fails: of hops, then of findings. */
export function failuresIn({ hops, findings }: Examination): readonly string[] {
  return [
    ...hops.flatMap(({ state, code }) => (state === 'Fail' ? [code] : [])),
    ...findings.map(({ code }) => code),
  ];
}
