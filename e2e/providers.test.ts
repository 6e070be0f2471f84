/**
 * Tests the objects that real providers create for a tenant and that Snicket reads and changes, and a running control
 * plane that workers join through an edge. {@link facts} lists the differences between Kamaji and Steward.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ClusterApi } from '../world/cluster/cluster-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { route, startEdge, type Edge } from '../world/edges/edge.ts';
import type { Route } from '../world/edges/recipe.ts';
import { CommandError } from '../world/machine/command.ts';
import { providerParts } from '../world/parts/catalog.ts';
import { ensureParts, program } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { joinTenant, type TenantWorkers } from '../world/providers/join.ts';
import { startProvider, type Provider, type ProviderName } from '../world/providers/provider.ts';
import { prepareTenantPods } from '../world/providers/tenants.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';

const NAMESPACE = 'tenants';
const TENANT = 'blue';
const HOST = 'blue.k8s.snicket.test';
const KONNECTIVITY_HOST = 'blue.konnectivity.snicket.test';
const WORKERS: TenantWorkers = {
  tenant: TENANT,
  namespace: NAMESPACE,
  hosts: { api: HOST, konnectivity: KONNECTIVITY_HOST },
};

/** For objects that a provider creates step by step, with a backoff. */
const PROVIDED = { deadlineMs: 90_000 };

interface Facts {
  /** Value of `spec.controlPlane.ingress` with which kubeconfigs point to HOST:443. */
  readonly ingress: object;
  /** Returns the expected `status.controlPlaneEndpoint` for the address of the tenant's Service. */
  readonly endpoint: (serviceAddress: string) => string;
  /** The Secret and key with the certificate of konnectivity-server. */
  readonly konnectivityCertificate: readonly [secret: string, key: string];
  /** Returns where agents dial konnectivity-server by default. */
  readonly agentTarget: (serviceAddress: string) => readonly [host: string, port: number];
  /** Value of `spec.addons.konnectivity.agent` that makes agents dial the edge, if they do not by default. */
  readonly agent?: object;
}

const facts: Readonly<Record<ProviderName, Facts>> = {
  kamaji: {
    ingress: { hostname: `${HOST}:443`, ingressClassName: 'snicket-unhandled' },
    endpoint: (serviceAddress) => `${serviceAddress}:6443`,
    konnectivityCertificate: [`${TENANT}-api-server-certificate`, 'apiserver.crt'],
    agentTarget: (serviceAddress) => [serviceAddress, 8132],
    agent: {
      extraArgs: [`--proxy-server-host=${KONNECTIVITY_HOST}`, '--proxy-server-port=443'],
    },
  },
  steward: {
    ingress: {
      hostname: HOST,
      ingressClassName: 'snicket-unhandled',
      controllerType: 'generic',
    },
    endpoint: () => `${HOST}:443`,
    konnectivityCertificate: [`${TENANT}-konnectivity-certificate`, 'tls.crt'],
    agentTarget: () => [KONNECTIVITY_HOST, 443],
  },
};

let world: World;
let edge: Edge;

beforeAll(async () => {
  const progress = terminalProgress();
  await ensureParts(Object.values(providerParts), progress);
  world = await World.start({}, { progress });
  await world.management.kubectl('create', 'namespace', NAMESPACE);
  edge = await startEdge(world, 'haproxy-ingress', progress);
  // The edge dials the pods of a Service, which are on the only worker.
  const { plan } = world.management;
  const { address } = world.management.worker();
  await edge.host.exec(['ip', 'route', 'add', `${plan.podPrefix}.0.0/16`, 'via', address]);
}, 1_800_000);

afterAll(async () => world?.stop());

describe.each(['kamaji', 'steward'] as const)('%s', (name) => {
  const expected = facts[name];
  let provider: Provider;
  let serviceAddress: string;

  beforeAll(async () => {
    provider = await startProvider(world, name, { progress: terminalProgress() });
    await prepareTenantPods(world, provider);
  });

  test('rejects a tenant with an unsupported version of Kubernetes', async () => {
    const tenant = tenantControlPlane(provider, expected, 'v1.99.0');

    const refusal = await world.management.apply(tenant).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(CommandError);
    expect((refusal as CommandError).stderr).toContain('version greater than the supported one');
  });

  test('creates a Service with the ports of API server and konnectivity-server', async () => {
    await world.management.apply(
      tenantControlPlane(provider, expected, provider.versions.kubernetes),
    );

    const withBothPorts = async () => {
      const service = await get<Service>('service', TENANT);
      return service?.spec.ports.length === 2 && service;
    };
    const { spec } = await waitFor('the Service has both ports', withBothPorts, PROVIDED);

    serviceAddress = spec.clusterIP;
    await world.nameService(NAMESPACE, TENANT);
    expect(spec.type).toBe('ClusterIP');
    expect(spec.ports.map((port) => [port.name, port.port, port.targetPort])).toEqual([
      ['kube-apiserver', 6443, 6443],
      ['konnectivity-server', 8132, 8132],
    ]);
  });

  test('creates a Deployment whose API server has the flags of the user and of the provider', async () => {
    const withKonnectivity = async () => {
      const deployment = await get<Deployment>('deployment', TENANT);
      const { containers } = deployment?.spec.template.spec ?? { containers: [] };
      return containers.some((container) => container.name === 'konnectivity-server') && containers;
    };
    const state = 'the Deployment has konnectivity-server';
    const containers = await waitFor(state, withKonnectivity, PROVIDED);

    const args = containers.find((container) => container.name === 'kube-apiserver')?.args;
    expect(args).toContain('--endpoint-reconciler-type=none');
    expect(args).toContain(`--advertise-address=${serviceAddress}`);
    expect(args).toContain('--secure-port=6443');
    expect(args).toContain(`--etcd-prefix=/${NAMESPACE}_${TENANT}`);
    expect(args).toContain(`--etcd-servers=https://${provider.machine.address}:2379`);
  });

  test('creates a Secret with the tenant CA under two names, with an RSA key in PKCS#1', async () => {
    const ca = await secret(`${TENANT}-ca`);

    expect(Object.keys(ca).toSorted()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    expect(ca['tls.crt']).toBe(ca['ca.crt']);
    expect(ca['tls.key']).toBe(ca['ca.key']);
    expect(new X509Certificate(ca['ca.crt']!).ca).toBe(true);
    expect(ca['ca.key']).toStartWith('-----BEGIN RSA PRIVATE KEY-----');
  });

  test('issues a certificate of the API server for the host, the Service and its address', async () => {
    const ca = await secret(`${TENANT}-ca`);
    const serving = await secret(`${TENANT}-api-server-certificate`);

    const certificate = new X509Certificate(serving['apiserver.crt']!);

    expect(certificate.verify(new X509Certificate(ca['ca.crt']!).publicKey)).toBe(true);
    expect(certificate.checkHost(HOST)).toBe(HOST);
    expect(certificate.checkHost(`${TENANT}.${NAMESPACE}.svc`)).toBeDefined();
    expect(certificate.checkIP(serviceAddress)).toBe(serviceAddress);
  });

  test('issues a certificate of konnectivity-server for the konnectivity host', async () => {
    const [name, key] = expected.konnectivityCertificate;

    const certificate = new X509Certificate((await secret(name))[key]!);

    expect(certificate.checkHost(KONNECTIVITY_HOST)).toBe(KONNECTIVITY_HOST);
  });

  test('creates kubeconfigs with the host for external clients, and with the Service for internal ones', async () => {
    const kubeconfigs = await secret(`${TENANT}-admin-kubeconfig`);

    const servers = Object.fromEntries(
      Object.entries(kubeconfigs).map(([key, text]) => [key, serverOf(text)]),
    );

    const [outside, inside] = [`https://${HOST}:443`, `https://${TENANT}.${NAMESPACE}.svc:6443`];
    expect(servers).toEqual({
      'admin.conf': outside,
      'admin.svc': inside,
      'super-admin.conf': outside,
      'super-admin.svc': inside,
    });
  });

  test('creates an Ingress of the given class only for the host of the API server', async () => {
    const find = () => get<Ingress>('ingress', TENANT);
    const ingress = await waitFor('the Ingress exists', find, PROVIDED);

    expect(ingress.spec.ingressClassName).toBe('snicket-unhandled');
    expect(ingress.spec.rules.map(({ host }) => host)).toEqual([HOST]);
  });

  test('runs the control plane in pods of the Service', async () => {
    const status = await waitFor(
      'the tenant is Ready',
      async () => {
        const tenant = await get<TenantControlPlane>(provider.resource, TENANT);
        return tenant?.status?.kubernetesResources?.version?.status === 'Ready' && tenant.status;
      },
      { deadlineMs: 150_000, everyMs: 500 },
    );

    expect(status.controlPlaneEndpoint).toBe(expected.endpoint(serviceAddress));
    // kube-proxy forwards connections to the Service, and observes the pod a moment later.
    const readyz = await waitFor(
      'its API server answers',
      async () => tenantKubectl('get', '--raw', '/readyz').catch(() => undefined),
      PROVIDED,
    );
    expect(readyz).toBe('ok');
  });

  test("configures the address of konnectivity-server in the tenant's agents", async () => {
    const agentArguments = async () => {
      const args = await agentArgs();
      return args.length > 0 && args;
    };
    const args = await waitFor('the agents are created', agentArguments, PROVIDED);

    const [host, port] = expected.agentTarget(serviceAddress);
    expect(args).toContain(`--proxy-server-host=${host}`);
    expect(args).toContain(`--proxy-server-port=${port}`);
  });

  describe('a worker', () => {
    let tenant: Cluster<ClusterApi>;
    let pod: Pod;

    beforeAll(async () => {
      for (const host of [HOST, KONNECTIVITY_HOST]) world.dns.set(host, edge.address);
      await world.management.apply(
        route(edge, routeTo(HOST, 6443)),
        route(edge, routeTo(KONNECTIVITY_HOST, 8132)),
      );
      if (expected.agent) await configureAgents(expected.agent);
    });

    afterAll(async () => {
      const names = [HOST, KONNECTIVITY_HOST];
      await world.management.kubectl('delete', 'ingress', `--namespace=${NAMESPACE}`, ...names);
    });

    test('joins through an edge that routes by name, and becomes Ready', async () => {
      tenant = await joinTenant(world, provider, WORKERS);

      const node = await tenant.get<Node>('node', `${name}-${TENANT}-1`);
      expect(node?.status.addresses).toContainEqual({
        type: 'InternalIP',
        address: tenant.worker().address,
      });
      // The controller removes the taint of a new node a moment after the node is Ready.
      const hasNoTaints = async () => {
        const { spec } = (await tenant.get<Node>('node', `${name}-${TENANT}-1`)) ?? {};
        return spec !== undefined && (spec.taints ?? []).length === 0;
      };
      await waitFor('the node accepts pods', hasNoTaints, PROVIDED);
    });

    test('runs a pod', async () => {
      pod = await tenant.runPod({ command: ['sh', '-c', 'echo running; sleep 2147483647'] });

      const { spec } = (await tenant.get<{ spec: { nodeName: string } }>('pod', pod.name))!;
      expect(spec.nodeName).toBe(tenant.worker().name);
    });

    test('is reachable from the API server once the agent is connected to konnectivity-server', async () => {
      await tenant.untilNodesReachable();

      expect(await pod.logs()).toBe('running\n');
      expect(await pod.exec('echo', 'hello')).toBe('hello\n');
    });

    test('its pods are rejected at the address of the API server, because no component writes the endpoints', async () => {
      const refusal = await pod
        .exec('kubectl', 'get', 'namespaces')
        .catch((error: unknown) => error);

      expect(refusal).toBeInstanceOf(CommandError);
      expect((refusal as CommandError).stderr).toContain('10.96.0.1:443');
      expect((refusal as CommandError).stderr).toContain('connection refused');
    });

    test('of an external cloud provider has a taint and only a hostname until the provider initializes it', async () => {
      await world.stopJoined(tenant);
      const kubeletFlags = ['--cloud-provider=external'];

      const cloud = { ...WORKERS, name: `${name}-cloud`, kubeletFlags };
      tenant = await joinTenant(world, provider, cloud);

      const address = `${name}-cloud-1`;
      const node = await tenant.get<Node>('node', address);
      expect(node?.status.addresses).toEqual([{ type: 'Hostname', address }]);
      expect(node?.spec.taints?.map(({ key }) => key)).toContain(
        'node.cloudprovider.kubernetes.io/uninitialized',
      );
      // All pods of a world tolerate the taint.
      await tenant.runPod({ name: 'on-the-host', node: address, hostNetwork: true });
      await world.stopJoined(tenant);
    });

    /** Configures the agents before they start, because an agent that cannot connect exits after 30 s. */
    async function configureAgents(agent: object): Promise<void> {
      const patch = JSON.stringify({ spec: { addons: { konnectivity: { agent } } } });
      await world.management.kubectl(
        'patch',
        provider.resource,
        TENANT,
        `--namespace=${NAMESPACE}`,
        '--type=merge',
        `--patch=${patch}`,
      );
      const useEdge = async () => (await agentArgs()).includes('--proxy-server-port=443');
      await waitFor('the agents use the edge', useEdge, PROVIDED);
    }
  });

  test('deletes all objects of a deleted tenant', async () => {
    const names = () =>
      world.management.kubectl(
        'get',
        'services,deployments,secrets,configmaps,ingresses,pods',
        `--namespace=${NAMESPACE}`,
        '--output=name',
      );
    const before = await names();

    await world.management.kubectl(
      'delete',
      provider.resource,
      TENANT,
      `--namespace=${NAMESPACE}`,
      '--timeout=110s',
    );

    expect(before).toContain(`deployment.apps/${TENANT}`);
    await waitFor(
      'only the default objects of a namespace remain',
      async () => (await names()) === 'configmap/kube-root-ca.crt\n',
      { deadlineMs: 90_000, everyMs: 500 },
    );
  });

  /** Returns the arguments of the agents in the tenant; none while their DaemonSet does not exist. */
  async function agentArgs(): Promise<string[]> {
    const text = await tenantKubectl(
      'get',
      'daemonset',
      '--namespace=kube-system',
      '--output=jsonpath={.items[?(@.metadata.name=="konnectivity-agent")].spec.template.spec.containers[0].args}',
    );
    return text === '' ? [] : (JSON.parse(text) as string[]);
  }

  /** Runs kubectl as the tenant's administrator on the provider's machine, the only one that reaches the tenant. */
  async function tenantKubectl(...args: string[]): Promise<string> {
    const { host } = provider.machine;
    const path = join(host.folder, 'files', 'tenant.kubeconfig');
    const kubeconfigs = await secret(`${TENANT}-admin-kubeconfig`);
    writeFileSync(path, kubeconfigs['super-admin.svc']!, { mode: 0o600 });
    const cache = `--cache-dir=${join(host.folder, 'kubectl-cache')}`;
    return (await host.exec([program('kubectl'), `--kubeconfig=${path}`, cache, ...args])).stdout;
  }
});

/** Returns a tenant as Snicket prepares it: hosts at a shared address, and no endpoints except Snicket's. */
function tenantControlPlane(provider: Provider, { ingress }: Facts, version: string): object {
  return {
    apiVersion: provider.apiVersion,
    kind: 'TenantControlPlane',
    metadata: { name: TENANT, namespace: NAMESPACE },
    spec: {
      dataStore: provider.dataStore,
      controlPlane: {
        deployment: {
          replicas: 1,
          extraArgs: { apiServer: ['--endpoint-reconciler-type=none'] },
        },
        service: { serviceType: 'ClusterIP' },
        ingress,
      },
      kubernetes: { version, kubelet: { cgroupfs: 'cgroupfs' } },
      networkProfile: { port: 6443, certSANs: [HOST, KONNECTIVITY_HOST] },
      addons: { konnectivity: { server: { port: 8132 }, agent: {} } },
    },
  };
}

/** Returns a route from a host to a port of the tenant's Service. */
function routeTo(host: string, port: number): Route {
  return { host, namespace: NAMESPACE, service: TENANT, port };
}

/** Returns an object of the tenant; undefined if there is none. */
async function get<T>(resource: string, name: string): Promise<T | undefined> {
  return world.management.get<T>(resource, name, NAMESPACE);
}

/** Returns the data of a tenant's Secret, once it exists. */
async function secret(name: string): Promise<Record<string, string>> {
  const find = () => get<{ data: Record<string, string> }>('secret', name);
  const { data } = await waitFor(`Secret ${name} exists`, find, PROVIDED);
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function serverOf(kubeconfig: string): string | undefined {
  const { clusters } = parse(kubeconfig) as { clusters: { cluster: { server: string } }[] };
  return clusters[0]?.cluster.server;
}

interface Service {
  spec: {
    type: string;
    clusterIP: string;
    ports: { name: string; port: number; targetPort: number }[];
  };
}

interface Deployment {
  spec: { template: { spec: { containers: { name: string; args: string[] }[] } } };
}

interface Ingress {
  spec: { ingressClassName: string; rules: { host: string }[] };
}

interface Node {
  spec: { taints?: { key: string }[] };
  status: { addresses?: { type: string; address: string }[] };
}

interface TenantControlPlane {
  status?: {
    controlPlaneEndpoint?: string;
    kubernetesResources?: { version?: { status?: string } };
  };
}
