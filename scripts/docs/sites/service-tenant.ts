/** For tests only: a tenant behind a Service, with konnectivity, a worker and an Exposure. */
import { createClient } from '../../../src/kube/client/fetch-client.ts';
import type { ObjectKey } from '../../../src/kube/object.ts';
import { RESOURCES, type Resource } from '../../../src/kube/resource.ts';
import type { LabTenant } from '../../../src/operator/testing/lab-tenant.ts';
import { TENANTS } from '../../../src/operator/testing/namespaces.ts';
import type { OperatorLab } from '../../../src/operator/testing/operator-lab.ts';
import { issueLeaf } from '../../../src/pki/leaf.ts';
import { neverRespond } from '../../../src/probe/testing/responses.ts';
import { ApiServer } from '../../../src/proxy/testing/api-server.ts';

const KONNECTIVITY_PORT = 8132;

/** A tenant that is Ready. */
export class ServiceTenant implements AsyncDisposable {
  readonly #lab: OperatorLab;
  readonly #tenant: LabTenant;
  readonly #konnectivity: ApiServer;

  private constructor(lab: OperatorLab, tenant: LabTenant, konnectivity: ApiServer) {
    this.#lab = lab;
    this.#tenant = tenant;
    this.#konnectivity = konnectivity;
  }

  /** @param hasKonnectivity - Whether konnectivity works. If not, its port points to the API server. */
  static async start(
    lab: OperatorLab,
    name: string,
    hasKonnectivity: boolean,
  ): Promise<ServiceTenant> {
    const tenant = await lab.addTenant(name);
    const { certificate: cert, key } = await issueLeaf({
      ca: tenant.authority,
      names: [`${TENANTS}-${name}.konnectivity.example.test`],
      addresses: [],
      now: new Date(),
    });
    const konnectivity = await ApiServer.start({
      serving: { cert, key },
      protocols: ['h2'],
      onConnection: neverRespond,
    });
    const started = new ServiceTenant(lab, tenant, konnectivity);
    await started.#setPorts(hasKonnectivity ? konnectivity.port : tenant.port);
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose(name, {
      controlPlane: {
        type: 'Service',
        service: { name, apiPort: tenant.port, konnectivityPort: KONNECTIVITY_PORT },
        caSecretRef: { name: `${name}-ca` },
        kubeconfigSecretRef: { name: `${name}-kubeconfig` },
      },
    });
    await lab.untilCondition(name, 'Ready', /^True/);
    await lab.untilCondition(name, 'Reachable', /^True/);
    await lab.untilCondition(name, 'KonnectivityReady', hasKonnectivity ? /^True/ : /^False/);
    return started;
  }

  /** The certificate of the tenant's CA. */
  get certificate(): string {
    return this.#tenant.authority.certificate;
  }

  /** The port of the tenant's API server. */
  get apiPort(): number {
    return this.#tenant.port;
  }

  /** Changes an object of the tenant that Snicket manages. */
  async drift(resource: Resource, key: ObjectKey, patch: object): Promise<void> {
    const client = createClient(this.#tenant.server.access, { fieldManager: 'snicket' });
    await client.patch(resource, key, 'merge', patch);
  }

  async #setPorts(konnectivityPort: number): Promise<void> {
    const { name, port: apiPort } = this.#tenant;
    const ports = (konnectivity: number) => [
      { name: 'api', protocol: 'TCP', port: apiPort },
      { name: 'konnectivity', protocol: 'TCP', port: konnectivity },
    ];
    await this.#lab.change(RESOURCES.service, name, { spec: { ports: ports(KONNECTIVITY_PORT) } });
    await this.#lab.change(RESOURCES.endpointSlice, `${name}-1`, {
      ports: ports(konnectivityPort),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#konnectivity[Symbol.asyncDispose]();
  }
}
