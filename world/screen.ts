/** Texts of the command `world/world`. */
import { existsSync } from 'node:fs';
import type { Cluster } from './cluster/cluster.ts';
import { isReady } from './cluster/conditions.ts';
import { memoryOf, type WorldStatus } from './status.ts';
import { worldIds, type WorldState } from './machine/ledger.ts';
import type { World } from './world.ts';

const REFRESH_MS = 2_000;

const STATES: Readonly<Record<WorldState, string>> = {
  running: 'running',
  kept: 'kept until `world/world down`',
  damaged: 'damaged ledger (`world/world down ID` removes it)',
  dead: 'dead: its owner is gone (`world/world down` removes it)',
};

/** Returns the text that is printed when a world has started. */
export function welcomeText(world: World, elapsed: string, kept: boolean): string {
  const clusters = [world.management, ...world.tenants.values()];
  const tenant = clusters[1] ?? world.management;
  // Commands need --world only if there are several worlds.
  const worldFlag = worldIds().length > 1 ? ` --world ${world.id}` : '';
  const ending = kept
    ? `The world keeps running. Remove it:  world/world down ${world.id}`
    : 'Press Ctrl-C to remove it.';
  return `
World ${world.id} is up after ${elapsed}.

  kubeconfigs
${clusters.map((cluster) => `    ${cluster.name.padEnd(12)} ${cluster.controlPlane.machineKubeconfig}`).join('\n')}

  commands to try
    world/world kubectl${worldFlag} ${tenant.name} get nodes
    world/world kubectl${worldFlag} ${tenant.name} run hello --image=snicket.test/tools:1
    world/world kubectl${worldFlag} ${tenant.name} wait --for=condition=Ready pod/hello
    world/world kubectl${worldFlag} ${tenant.name} exec -it hello -- sh
    world/world kubectl${worldFlag} ${tenant.name} exec hello -- kubectl get --raw /version   # rejected; Snicket solves this
    world/world exec${worldFlag} ${tenant.workers[0]?.name ?? tenant.name} ip address
    world/world status

${ending}
`;
}

/** Returns the worlds as a table. */
export function statusText(statuses: readonly WorldStatus[]): string {
  if (statuses.length === 0) return 'no worlds found; `make world` starts one';
  return statuses
    .map((status) => {
      const memory = status.hosts.reduce((sum, host) => sum + host.memoryBytes, 0);
      const rows = status.hosts.map((host) => [
        host.name,
        host.address,
        megabytes(host.memoryBytes),
        [...host.running, ...host.ended.map((name) => `${name} (ended)`)].join(' '),
      ]);
      return [
        `World ${status.id}: ${STATES[status.state]}, ${megabytes(memory)}, ${status.folder}`,
        ...table([['HOST', 'ADDRESS', 'MEMORY', 'PROGRAMS'], ...rows]).map((line) => `  ${line}`),
        ...Object.entries(status.kubeconfigs).map(
          ([name, path]) => `  kubeconfig of ${name}: ${path}`,
        ),
      ].join('\n');
    })
    .join('\n\n');
}

/** Shows the state of the world on one line of the terminal, until interrupted. */
export async function liveStatus(world: World, interruption: AbortSignal): Promise<void> {
  const end = new Promise<undefined>((resolve) =>
    interruption.addEventListener('abort', () => resolve(undefined)),
  );
  while (!interruption.aborted && existsSync(world.folder)) {
    if (!process.stdout.isTTY) {
      await Promise.race([end, Bun.sleep(REFRESH_MS)]);
      continue;
    }
    const round = Promise.all([world.management, ...world.tenants.values()].map(clusterState));
    const states = await Promise.race([round, end]);
    if (!states) break;
    const line = `${states.join(' | ')}; memory ${megabytes(memoryOf(world.id))}`;
    process.stdout.write(`\r\x1b[K${line.slice(0, process.stdout.columns || 80)}`);
    await Promise.race([end, Bun.sleep(REFRESH_MS)]);
  }
  if (process.stdout.isTTY) process.stdout.write('\n');
}

async function clusterState(cluster: Cluster): Promise<string> {
  try {
    const [nodes, pods] = await Promise.all([cluster.list('nodes'), cluster.list('pods')]);
    const ready = (items: typeof nodes) => items.filter(isReady).length;
    return `${cluster.name}: ${ready(nodes)}/${cluster.workers.length} nodes, ${ready(pods)}/${pods.length} pods`;
  } catch (error) {
    return `${cluster.name}: ${(error as Error).message.split('\n')[0]}`;
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** Returns lines with columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
