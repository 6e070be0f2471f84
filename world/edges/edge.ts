import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../machine/command.ts';
import type { Daemon } from '../machine/daemon.ts';
import type { Host } from '../machine/host.ts';
import type { Link } from '../machine/network.ts';
import { partFolder } from '../parts/cache.ts';
import { ensureParts, program } from '../parts/parts.ts';
import { silentProgress, type Progress } from '../parts/progress.ts';
import { waitFor } from '../wait.ts';
import type { World } from '../world.ts';
import { contour } from './contour.ts';
import { envoyGateway } from './envoy-gateway.ts';
import { haproxyIngress } from './haproxy-ingress.ts';
import { EDGE_NAMESPACE, EDGE_PORT, type EdgeRecipe, type Route } from './recipe.ts';
import { traefik } from './traefik.ts';

/** Deadline for a started edge to carry a connection. Envoy alone sometimes takes about 15 s. */
const START_DEADLINE_MS = 120_000;

const recipes = {
  traefik,
  'haproxy-ingress': haproxyIngress,
  'envoy-gateway': envoyGateway,
  contour,
} as const satisfies Record<string, EdgeRecipe>;

/** An ingress controller that a world can run. */
export type EdgeName = keyof typeof recipes;

/** Names of all edges. */
export const edgeNames = Object.keys(recipes) as EdgeName[];

/** A running ingress controller that serves the world's management cluster. */
export interface Edge {
  readonly name: EdgeName;
  readonly host: Host;
  readonly link: Link;
  readonly address: string;
  readonly port: number;
  /** Programs of the edge, without their child processes. */
  readonly daemons: readonly Daemon[];
  /** Kills all programs of the edge at once. Its objects stay in the management cluster. */
  stop(): Promise<void>;
}

/**
 * Starts an edge on its own host, and returns when it carries connections. Missing parts are built first.
 *
 * Each edge has a route from the management cluster's API host to its API server, because Envoy does not listen without
 * a route. The route is also used to check that the edge works.
 */
export async function startEdge(
  world: World,
  name: EdgeName,
  progress: Progress = silentProgress,
): Promise<Edge> {
  const recipe: EdgeRecipe = recipes[name];
  const hostName = `edge-${name}`;
  if (existsSync(join(world.folder, hostName)))
    throw new Error(
      `edge '${name}' was already started in world ${world.id}; a world can start each edge once`,
    );
  await ensureParts(recipe.parts, progress);
  progress.update(name, 'starting');
  const { host, link, address } = await world.addHost(
    hostName,
    recipe.tools ? { tools: partFolder(recipe.tools) } : {},
  );
  await prepareCluster(world.management, recipe);
  const { kubeconfig } = world.management.controlPlane;
  await recipe.start({ host, address, kubeconfig, folder: join(host.folder, 'files') });
  await untilConnected(world.management, host, address);
  progress.done(name, `listens on ${address}:${EDGE_PORT}`);
  return {
    name,
    host,
    link,
    address,
    port: EDGE_PORT,
    get daemons() {
      return host.daemons;
    },
    stop: async () => host.stop(),
  };
}

/** Returns the object for the management cluster that routes a host name through this edge. */
export function route(edge: Pick<Edge, 'name'>, route: Route): object {
  return recipes[edge.name].route(route);
}

async function prepareCluster(management: Cluster, recipe: EdgeRecipe): Promise<void> {
  const folders = recipe.definitions?.() ?? [];
  if (folders.length > 0) {
    const files = folders.flatMap((folder) => ['--filename', folder]);
    const apply = ['apply', '--server-side', '--force-conflicts', '--recursive'];
    await management.kubectl(...apply, ...files);
    await management.untilCrdsEstablished();
  }
  await management.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: EDGE_NAMESPACE } },
    ...recipe.objects,
    recipe.route({
      host: management.plan.hosts.api,
      namespace: 'default',
      service: 'kubernetes',
      port: 443,
    }),
  );
}

/** Waits until the management cluster's API server answers through the edge. */
async function untilConnected(management: Cluster, host: Host, address: string): Promise<void> {
  const { kubeconfig } = management.controlPlane;
  const command = [
    program('kubectl'),
    `--kubeconfig=${kubeconfig}`,
    `--server=https://${address}:${EDGE_PORT}`,
    `--tls-server-name=${management.plan.hosts.api}`,
    '--request-timeout=5s',
    'get',
    '--raw=/readyz',
  ];
  let last = '';
  const answers = async () => {
    const ended = host.daemons.find((daemon) => !daemon.running);
    if (ended) throw new Error(`${ended.name} ended`);
    try {
      return (await host.exec(command)).stdout === 'ok';
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      last = error.stderr.trim();
      return false; // the edge does not listen yet, or the route is not programmed yet
    }
  };
  try {
    await waitFor(`${host.name} carries connections`, answers, {
      deadlineMs: START_DEADLINE_MS,
      everyMs: 250,
    });
  } catch (error) {
    const logs = host.daemons.map((daemon) => `${daemon.log} says:\n${daemon.tail()}`);
    throw new Error([(error as Error).message, last, ...logs].join('\n'), { cause: error });
  }
}
