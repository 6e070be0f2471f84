/**
 * Control planes of k0smotron: standalone, with Cluster API and with k0rdent. The test creates the objects of their
 * controllers, with reduced CRDs, and a tenant of the world simulates k0s. After one annotation, the pods of that tenant
 * reach their own API server through the shared address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../src/kube/object.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../src/providers/provider-resources.ts';
import { smallDefinitions } from '../src/providers/testing/definitions.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { installDefinitions, parseDefinition } from '../world/providers/definitions.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { World } from '../world/world.ts';
import { restartAgents, installSnicket, pointToEdge, snicketEdge } from './installed-snicket.ts';
import { createWithProvider, ownedByCluster, renderChart } from './simulated-provider.ts';
import type { ProvidedControlPlane } from './provided-control-plane.ts';
import {
  homeNamespace,
  createHomeNamespace,
  namespacesFirstSeenBy,
  namespacesSeenByName,
} from './namespaces.ts';

const { k0smotron, k0smotronControlPlane, capiCluster, clusterDeployment } = PROVIDER_RESOURCES;

const NAMESPACE = 'tenants';
const NAME = 'red';
/**
 * The tenant has this name so that its certificate has the hosts that Snicket derives from namespace and name, as with
 * k0smotron.
 */
const TENANT = `${NAMESPACE}-${NAME}`;
const SPEC = {
  version: 'v1.34.1-k0s.0',
  replicas: 1,
  service: { type: 'ClusterIP', apiPort: API_PORT, konnectivityPort: KONNECTIVITY_PORT },
};

const CONTROL_PLANES = [
  ['a Cluster of k0smotron', objectOf(k0smotron, SPEC)],
  ['a K0smotronControlPlane of Cluster API', objectOf(k0smotronControlPlane, SPEC)],
  [
    'a ClusterDeployment of k0rdent',
    objectOf(clusterDeployment, {
      template: 'openstack-hosted-cp-1-0-40',
      config: { workersNumber: 2 },
    }),
  ],
] as const;

function objectOf(
  { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  spec: object,
): KubeObject {
  const object = { apiVersion, kind, metadata: { name: NAME, namespace: NAMESPACE }, spec };
  return object;
}

let world: World;
let tenant: Cluster;
let pod: Pod;

beforeAll(async () => {
  const progress = terminalProgress();
  // k0smotron adds the name of its Service to the certificate, too.
  const red = { certificateNames: [`kmc-${NAME}.${NAMESPACE}.svc`] };
  world = await World.start({ tenants: { [TENANT]: red } }, { progress });
  tenant = world.tenant(TENANT);
  const definitions = smallDefinitions().map((path) => readFileSync(path, 'utf8'));
  await installDefinitions(world.management, definitions.map(parseDefinition));
  await installSnicket(world, progress);
  const edge = snicketEdge() as { readonly spec: object };
  await world.management.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { ...edge, spec: { ...edge.spec, domain: world.plan.domain } },
    podsOfControlPlane(),
  );
  pointToEdge(world, tenant);
  await createHomeNamespace(tenant);
  pod = await tenant.runPod();
});

afterAll(async () => world?.stop());

describe.each(CONTROL_PLANES)('%s', (_, object) => {
  let controlPlane: ProvidedControlPlane;
  let before: readonly unknown[];
  const hasChart = isOfKind(clusterDeployment, object);

  beforeAll(async () => {
    controlPlane = await createControlPlane(object);
    before = await controlPlane.fields();
  });

  test('is exposed by an annotation', async () => {
    await controlPlane.annotate('snicket.dev/edge=shared');

    if (hasChart) {
      await controlPlane.until('Prepared', 'False ChartValuesUnconfirmed');
      await renderChart(world.management, object);
    }
    await controlPlane.until('Ready', 'True', 100_000);
  });

  test('its API server reaches its nodes: logs and exec', async () => {
    await restartAgents(tenant);

    expect(await pod.exec('echo', 'through the agents')).toBe('through the agents\n');
    expect(await pod.logs()).toBe('');
  });

  test('its pods reach their own API server by address and by name', async () => {
    const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy has the endpoints');

    expect(namespaces).toContain(homeNamespace(tenant));
    expect(await namespacesSeenByName(pod)).toContain(homeNamespace(tenant));
  });

  test('every field is restored when the annotation is removed', async () => {
    await controlPlane.annotate('snicket.dev/edge-');

    await controlPlane.unexposed(100_000);
    if (hasChart) await renderChart(world.management, object);
    expect(await controlPlane.fields()).toEqual(before);
    expect(await tenant.get('daemonset', 'snicket-proxy', 'kube-system')).toBeUndefined();
  });
});

async function createControlPlane(object: KubeObject): Promise<ProvidedControlPlane> {
  const { management } = world;
  const cluster = objectOf(capiCluster, {
    clusterNetwork: { services: { cidrBlocks: [tenant.plan.serviceCidr] } },
  });
  const isOwned = isOfKind(k0smotronControlPlane, object);
  const complete = isOwned ? await ownedByCluster(management, object, cluster) : object;
  const { authority, plan } = tenant.controlPlane;
  return createWithProvider(management, complete, {
    certificate: authority.certificate,
    key: authority.key,
    kubeconfig: () => tenant.controlPlane.kubeconfigFor(`https://${plan.hosts.api}`),
  });
}

/**
 * Returns the EndpointSlice that connects k0smotron's Service to the tenant, in place of the pods of its StatefulSet.
 */
function podsOfControlPlane(): object {
  const service = `kmc-${NAME}`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: {
      name: `${service}-1`,
      namespace: NAMESPACE,
      labels: { 'kubernetes.io/service-name': service },
    },
    ports: [
      { name: 'api', port: API_PORT, protocol: 'TCP' },
      { name: 'konnectivity', port: KONNECTIVITY_PORT, protocol: 'TCP' },
    ],
    endpoints: [{ addresses: [tenant.plan.address], conditions: { ready: true } }],
  };
}
