/**
 * Tests the whole path through other ingress controllers. Snicket's operator configures them one after the other in the
 * same world. The pods of two tenants with the same addresses reach only their own API server, and no request fails when
 * the edge changes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import { konnectivityObjects } from '../world/cluster/konnectivity.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { route, startEdge, type Edge, type EdgeName } from '../world/edges/edge.ts';
import { EDGE_PORT } from '../world/edges/recipe.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitForAll, waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import { allObjects, type ObjectTexts } from './all-objects.ts';
import { requestLoopScript, failedRequests } from './request-loop.ts';
import type { EdgeSetup } from './edge-setups.ts';
import {
  untilReachable,
  exposureOf,
  installOperator,
  pointToEdge,
  type Condition,
  type Exposure,
} from './installed-snicket.ts';
import { createHomeNamespace } from './namespaces.ts';
import { expectClientCertificate, expectOwnApiServer, expectRestored } from './shared-checks.ts';

const TENANTS = ['a', 'b'] as const;
const EDGE = 'shared';

let world: World;
let laptop: NetworkHost;
const edges = new Map<EdgeName, Edge>();
const pods = new Map<string, { pod: Pod; hostPod: Pod }>();
const before = new Map<string, ObjectTexts>();

/**
 * Tests each setup in turn. Consecutive setups differ in controller and kind of objects. The setup with driver traefik
 * comes last, because its test adds a foreign route.
 */
export function testEdgeSetups(...setups: readonly [EdgeSetup, ...EdgeSetup[]]): void {
  beforeAll(async () => startAll(setups));

  afterAll(async () => world?.stop());

  describe.each(setups.map((setup, index) => ({ ...setup, setup, index })))(
    '$name',
    ({ setup, index }) => {
      test('every Exposure becomes Ready, and the objects of the previous setup are gone', async () => {
        await useSetup(setup, setups);

        for (const name of TENANTS) {
          const { driver } = setup.spec;
          expect((await exposure(name))?.status).toMatchObject({ driver, mode: 'Terminate' });
        }
        await switchOff(setups[index - 1], setups.slice(index));
      });

      test.each(TENANTS)('kubectl logs and exec work in tenant %s', async (name) => {
        const { pod } = podsOf(name);

        const printed = await waitFor(
          'the agents are connected to this edge',
          async () => pod.exec('echo', 'through the tunnel').catch(() => undefined),
          { deadlineMs: 120_000 },
        );

        expect(printed).toBe('through the tunnel\n');
        expect(await pod.logs()).toStartWith(`of tenant ${name}\n`);
      });

      test.each(TENANTS)(
        'no request of a pod of tenant %s failed during the change',
        async (name) => {
          const log = await podsOf(name).pod.logs();

          expect(failedRequests(log)).toEqual([]);
        },
      );

      test.each(TENANTS)('pods of tenant %s reach only their own API server', async (name) => {
        const { pod, hostPod } = podsOf(name);
        await expectOwnApiServer(world, name, [pod, hostPod]);
      });

      test.each(TENANTS)(
        'kubectl is authenticated by its client certificate in tenant %s',
        async (name) => {
          await expectClientCertificate(laptop, world.tenant(name));
        },
      );

      if (setup.spec.driver === 'traefik') {
        test('a foreign route for the host of an Exposure is reported until it is deleted', async () => {
          const [a, b] = [world.tenant('a'), world.tenant('b')];
          const { api } = a.plan.hosts;
          const target = { namespace: tenantNamespace('b'), service: b.name, port: API_PORT };
          await world.management.apply(route({ name: 'traefik' }, { host: api, ...target }));

          const isReported = async () => {
            const routed = await condition('a', 'Routed');
            return routed?.status === 'False' && routed;
          };
          const claimed = await waitFor('the foreign route is reported', isReported, {
            deadlineMs: 60_000,
          });
          const { status: otherStatus } = (await condition('b', 'Routed')) ?? {};
          await world.management.kubectl(
            ...['delete', setup.kind, api, `--namespace=${target.namespace}`],
          );

          expect(claimed.reason).toBe('HostClaimed');
          expect(claimed.message).toContain(`IngressRouteTCP ${target.namespace}/${api}`);
          expect(otherStatus).toBe('True');
          await untilReachable(world, a);
        });
      }
    },
  );

  test('deleting all Exposures restores every object', async () => {
    const { management } = world;
    const deletions = TENANTS.map(async (name) => {
      const namespace = `--namespace=${tenantNamespace(name)}`;
      await management.kubectl('delete', 'exposure', name, namespace, '--timeout=90s');
    });
    await waitForAll(deletions);
    await management.kubectl('delete', 'edge', EDGE);

    for (const cluster of clusters()) {
      await expectRestored(cluster, before.get(cluster.name));
    }
  });
}

async function startAll(setups: readonly [EdgeSetup, ...EdgeSetup[]]): Promise<void> {
  const progress = terminalProgress();
  const tenants = { a: { proxyMode: 'nftables' }, b: { proxyMode: 'iptables' } } as const;
  world = await World.start({ tenants }, { progress });
  laptop = await world.addHost('laptop');
  const controllers = new Set(setups.map(({ controller }) => controller));
  // Before the operator, which discovers CRDs when it starts.
  for (const name of controllers)
    edges.set(name, await forwarding(await startEdge(world, name, progress)));
  await installOperator(world, progress);
  for (const name of TENANTS) {
    const tenant = world.tenant(name);
    await createHomeNamespace(tenant);
    pointToEdge(world, tenant, edgeOf(setups[0]).address);
    await tenant.apply(...konnectivityObjects(tenant.plan, EDGE_PORT));
    const [pod, hostPod] = await waitForAll([
      tenant.runPod({ command: ['sh', '-c', `echo of tenant ${name}; ${requestLoopScript()}`] }),
      tenant.runPod({ hostNetwork: true }),
    ]);
    pods.set(name, { pod, hostPod });
  }
  for (const cluster of clusters()) before.set(cluster.name, await allObjects(cluster));
}

/** Forwards the port that kubelets dial to the edge's port, so that they use the edge too. */
async function forwarding(edge: Edge): Promise<Edge> {
  const script = join(repository, 'e2e', 'forward.ts');
  const [listen, target] = [API_PORT, EDGE_PORT].map((port) => `${edge.address}:${port}`);
  await edge.host.start('forward', [process.execPath, script, listen ?? '', target ?? '']);
  return edge;
}

/** Changes the Edge to this setup, and waits until no other routes exist. */
async function useSetup(setup: EdgeSetup, setups: readonly EdgeSetup[]): Promise<void> {
  const { management } = world;
  const edge = edgeOf(setup);
  for (const daemon of edge.daemons) if (!daemon.running) await daemon.restart();

  await management.apply(
    {
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Edge',
      metadata: { name: EDGE, annotations: { 'snicket.dev/is-default': 'true' } },
      spec: { ...setup.spec, addresses: [edge.address] },
    },
    ...TENANTS.map((name) => exposureOf(world.tenant(name))),
  );
  for (const name of TENANTS) pointToEdge(world, world.tenant(name), edge.address);

  const areOnlyRoutes = async () => Bun.deepEquals(await kindsInUse(setups), [setup.kind]);
  await waitFor(`${setup.kind} are the only routes`, areOnlyRoutes, { deadlineMs: 90_000 }).catch(
    async (error: unknown) => {
      const exposures = await management.kubectl('get', 'exposures', '-A', '-o', 'yaml');
      throw new Error(`${String(error)}\n${exposures}`);
    },
  );
  for (const name of TENANTS) await untilReachable(world, world.tenant(name));
}

/** Switches the previous edge off, so that anything that still uses it fails. */
async function switchOff(
  previous: EdgeSetup | undefined,
  next: readonly EdgeSetup[],
): Promise<void> {
  if (previous === undefined) return;
  const edge = edgeOf(previous);
  if (next.some(({ controller }) => controller === edge.name)) {
    await waitForAll(edge.daemons.map((daemon) => daemon.kill()));
  } else {
    await edge.stop();
  }
}

/** Returns the kinds of existing objects that Snicket manages. */
async function kindsInUse(setups: readonly EdgeSetup[]): Promise<readonly string[]> {
  const kinds = [...new Set(setups.map(({ kind }) => kind))];
  const selector = ['--all-namespaces', '--selector=app.kubernetes.io/managed-by=snicket'];
  const lists = await waitForAll(
    kinds.map((kind) => world.management.kubectl('get', kind, ...selector, '--output=name')),
  );
  return kinds.filter((_, index) => lists[index] !== '');
}

async function exposure(name: string): Promise<Exposure | undefined> {
  return world.management.get<Exposure>('exposure', name, tenantNamespace(name));
}

async function condition(name: string, type: string): Promise<Condition | undefined> {
  const { conditions = [] } = (await exposure(name))?.status ?? {};
  return conditions.find((condition) => condition.type === type);
}

function clusters(): readonly Cluster[] {
  return [world.management, ...world.tenants.values()];
}

function edgeOf({ controller }: EdgeSetup): Edge {
  const edge = edges.get(controller);
  if (edge === undefined) throw new Error(`edge ${controller} was not started`);
  return edge;
}

function podsOf(name: string): { pod: Pod; hostPod: Pod } {
  const found = pods.get(name);
  if (found === undefined) throw new Error(`no pods in tenant ${name}`);
  return found;
}
