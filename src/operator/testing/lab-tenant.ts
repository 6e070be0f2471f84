/**
 * For tests only: a tenant of the operator's lab. The certificate of its API server is signed by the tenant's CA, and is
 * also valid for the hosts of the Exposure.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import type { TestCluster } from '../../kube/testing/test-cluster.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { issueLeaf, type Leaf } from '../../pki/leaf.ts';
import { makeCa, type TestCa } from '../../pki/testing/test-ca.ts';
import { tlsEnvironment, type LabEnvironment } from './lab-environment.ts';
import { TENANTS } from './namespaces.ts';
import { objectOf } from './objects.ts';
import { TenantControllers } from './tenant-controllers.ts';

/** Options of {@link LabTenant.start}. */
export interface LabTenantOptions {
  /** The cluster IPs of Service default/kubernetes. Default: one, IPv4. */
  readonly serviceAddresses?: readonly string[];
  /** Whether the Service exists. Default true. Without it, the API server has just started. */
  readonly isInitialized?: boolean;
  /** Default: on loopback, with TLS. */
  readonly environment?: LabEnvironment;
  /** The number of the CA: tenants with different numbers have different CAs. Default 0. */
  readonly number?: number;
}

/** A running tenant. */
export class LabTenant implements AsyncDisposable {
  readonly name: string;
  readonly server: TestCluster;
  readonly authority: TestCa;
  readonly controllers: TenantControllers;
  /** A user of the tenant who is not Snicket. */
  readonly user: KubeClient;

  private constructor(
    name: string,
    server: TestCluster,
    authority: TestCa,
    { clock }: LabEnvironment,
  ) {
    this.name = name;
    this.server = server;
    this.authority = authority;
    this.user = server.client({ fieldManager: 'user' });
    this.controllers = new TenantControllers(
      server.client({ fieldManager: 'kube-controller-manager' }),
      clock,
    );
  }

  static async start(name: string, options: LabTenantOptions = {}): Promise<LabTenant> {
    const { environment = tlsEnvironment(), number = 0 } = options;
    const { authority, leaf } = await identityOf(number, name);
    const serving = { cert: leaf.certificate, key: leaf.key, ca: authority.certificate };
    const tenant = new LabTenant(
      name,
      await environment.start({ serving }),
      authority,
      environment,
    );
    if (options.isInitialized ?? true) tenant.initialize(options.serviceAddresses);
    return tenant;
  }

  get apiHost(): string {
    return apiHostOf(this.name);
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  /** The kubeconfig of an administrator. */
  get kubeconfig(): string {
    const { credentials } = this.server.access;
    if (credentials.kind !== 'token') throw new Error('the lab authenticates clients by token');
    return writeKubeconfig({
      server: `https://localhost:${this.port}`,
      ca: this.server.ca,
      names: { cluster: this.name, user: 'admin' },
      credentials,
    });
  }

  /** Creates the Service, as an API server does within seconds of its start. */
  initialize(clusterIPs: readonly string[] = ['10.96.0.1']): void {
    const spec = { clusterIP: clusterIPs[0], clusterIPs, ports: [{ name: 'https', port: 443 }] };
    this.server.seed(objectOf('Service', { name: 'kubernetes', namespace: 'default' }, { spec }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controllers[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** A CA, and the certificate of an API server. */
interface TenantIdentity {
  readonly authority: TestCa;
  readonly leaf: Leaf;
}

/** CAs by number. They are shared by all labs of this process, because creating one takes longer than most tests. */
const authorities = new Map<number, Promise<TestCa>>();
const identities = new Map<string, Promise<TenantIdentity>>();

async function identityOf(number: number, name: string): Promise<TenantIdentity> {
  return identities.getOrInsertComputed(`${number} ${name}`, async () => {
    const authority = await authorities.getOrInsertComputed(number, async () => makeCa());
    const leaf = await issueLeaf({
      ca: authority,
      names: [...certificateNames(name), 'kubernetes', 'localhost'],
      addresses: ['127.0.0.1'],
      now: new Date(),
    });
    return { authority, leaf };
  });
}

/** The hosts of the edge, and the names of the Services of providers. */
function certificateNames(name: string): readonly string[] {
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
