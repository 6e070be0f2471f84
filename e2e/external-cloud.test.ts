/**
 * A worker of an external cloud provider: its node has a taint and no address until that provider initializes it. The
 * provider runs as a pod that needs the API server, and reaches it through the proxy of the same node without any
 * setting.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Cluster } from '../world/cluster/cluster.ts';
import { IMAGES } from '../world/images/images.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import {
  restartAgents,
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
} from './installed-snicket.ts';
import { homeNamespace, createHomeNamespace, namesIn, namespacesSeenBy } from './namespaces.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const CLOUD_CONTROLLER_MANAGER = 'cloud-controller-manager';

let world: World;
let tenant: Cluster;

beforeAll(async () => {
  const progress = terminalProgress();
  const cloud = { kubeletFlags: ['--cloud-provider=external'] };
  world = await World.start({ tenants: { cloud } }, { progress });
  tenant = world.tenant('cloud');
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge());
  pointToEdge(world, tenant);
  await createHomeNamespace(tenant);
});

afterAll(async () => world?.stop());

test('the worker gets its proxy before it is initialized', async () => {
  await world.management.apply(exposureOf(tenant));

  // The API server reaches the worker, and KonnectivityReady is True, once the worker has an address.
  await world.management.kubectl(
    ...['wait', 'exposure', tenant.name, `--namespace=${tenantNamespace(tenant.name)}`],
    ...['--for=condition=Ready', '--timeout=150s'],
  );

  const { spec, status } = await node();
  expect(spec.taints?.map(({ key }) => key)).toContain(UNINITIALIZED);
  expect(status.addresses).toEqual([{ type: 'Hostname', address: tenant.worker().name }]);
});

test('a cloud controller manager reaches the API server at its default address', async () => {
  await tenant.apply(cloudControllerManager('kubectl get namespaces --output=name'));

  const output = await waitFor('it has listed namespaces', terminationMessage, {
    deadlineMs: 90_000,
  });

  expect(namesIn(output)).toContain(homeNamespace(tenant));
  expect((await node()).status.addresses).toHaveLength(1);
});

test('pods reach their API server once the cloud provider has set the address of the worker', async () => {
  const { name, address } = tenant.worker();
  const addresses = [
    { type: 'Hostname', address: name },
    { type: 'InternalIP', address },
  ];
  const patch = JSON.stringify({ status: { addresses } });
  await tenant.kubectl('patch', 'node', name, '--subresource=status', `--patch=${patch}`);
  await tenant.kubectl('taint', 'node', name, `${UNINITIALIZED}-`);

  const pod = await tenant.runPod();
  await restartAgents(tenant);

  expect(await namespacesSeenBy(pod)).toContain(homeNamespace(tenant));
  await untilReachable(world, tenant);
});

interface Node {
  readonly spec: { readonly taints?: readonly { readonly key: string }[] };
  readonly status: {
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
  };
}

async function node(): Promise<Node> {
  const { name } = tenant.worker();
  const found = await tenant.get<Node>('node', name);
  if (found === undefined) throw new Error(`there is no node ${name}`);
  return found;
}

/** Returns a pod with the tolerations of a cloud controller manager, which runs the command until it succeeds. */
function cloudControllerManager(command: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: CLOUD_CONTROLLER_MANAGER },
    spec: {
      hostNetwork: true,
      restartPolicy: 'Never',
      tolerations: [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' }],
      containers: [
        {
          name: 'main',
          image: IMAGES.tools,
          imagePullPolicy: 'Never',
          // The kubelet has no address, so its logs cannot be read.
          command: ['sh', '-c', `until ${command} > /dev/termination-log; do sleep 1; done`],
        },
      ],
    },
  };
}

interface EndedPod {
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly state: { readonly terminated?: { readonly message?: string } };
    }[];
  };
}

/** Returns the pod's output once it has succeeded. */
async function terminationMessage(): Promise<string | undefined> {
  const pod = await tenant.get<EndedPod>('pod', CLOUD_CONTROLLER_MANAGER);
  return pod?.status?.containerStatuses?.[0]?.state.terminated?.message;
}
