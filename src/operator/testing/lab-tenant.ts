/**
 * For tests only: a tenant of the operator's lab. Its API server serves with a certificate by the tenant's CA, as real
 * ones do, and so for the API host too.
 */
import { createClient } from '../../kube/client/fetch-client.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { issueLeaf } from '../../pki/leaf.ts';
import { makeCa, type TestCa } from '../../pki/testing/test-ca.ts';
import { TENANTS } from './places.ts';
import { objectOf } from './objects.ts';
import { TenantControllers } from './tenant-controllers.ts';

/** Options of {@link LabTenant.start}. */
export interface LabTenantOptions {
  /** Of Service default/kubernetes. Default: one, IPv4. */
  readonly serviceAddresses?: readonly string[];
  /** Default true: without it, it is an API server that has just started. */
  readonly isInitialised?: boolean;
}

/** A tenant that runs. */
export class LabTenant implements AsyncDisposable {
  readonly name: string;
  readonly server: TestApiServer;
  readonly authority: TestCa;
  readonly controllers: TenantControllers;
  /** Somebody in the tenant, who is not Snicket. */
  readonly user: KubeClient;

  private constructor(name: string, server: TestApiServer, authority: TestCa) {
    this.name = name;
    this.server = server;
    this.authority = authority;
    this.user = createClient(server.access, { fieldManager: 'user' });
    this.controllers = new TenantControllers(
      createClient(server.access, { fieldManager: 'kube-controller-manager' }),
    );
  }

  static async start(name: string, options: LabTenantOptions = {}): Promise<LabTenant> {
    const authority = await makeCa();
    const { certificate, key } = await issueLeaf({
      ca: authority,
      names: [...servedNames(name), 'kubernetes', 'localhost'],
      ...{ addresses: ['127.0.0.1'], now: new Date() },
    });
    const serving = { cert: certificate, key, ca: authority.certificate };
    const tenant = new LabTenant(name, await TestApiServer.start({ serving }), authority);
    if (options.isInitialised ?? true) tenant.initialise(options.serviceAddresses);
    return tenant;
  }

  get apiHost(): string {
    return apiHostOf(this.name);
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  /** An administrator's. */
  get kubeconfig(): string {
    const { credentials } = this.server.access;
    if (credentials.kind !== 'token') throw new Error('the lab knows its callers by tokens');
    return writeKubeconfig({
      ...{ server: `https://localhost:${this.port}`, ca: this.server.ca },
      ...{ names: { cluster: this.name, user: 'admin' }, credentials },
    });
  }

  /** What an API server does within seconds of its start. */
  initialise(clusterIPs: readonly string[] = ['10.96.0.1']): void {
    const spec = { clusterIP: clusterIPs[0], clusterIPs, ports: [{ name: 'https', port: 443 }] };
    this.server.seed(objectOf('Service', { name: 'kubernetes', namespace: 'default' }, { spec }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controllers[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** The hosts of the edge, and the names of the Services of providers. */
function servedNames(name: string): readonly string[] {
  const konnectivityHost = `${TENANTS}-${name}.konnectivity.example.test`;
  return [
    apiHostOf(name),
    konnectivityHost,
    `${name}.${TENANTS}.svc`,
    `kmc-${name}.${TENANTS}.svc`,
  ];
}

function apiHostOf(name: string): string {
  return `${TENANTS}-${name}.k8s.example.test`;
}
