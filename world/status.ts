import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPaths, cgroupProcesses } from './machine/cgroup.ts';
import { isRunning } from './machine/identity.ts';
import { Ledger, worldState, worldIds, type WorldState } from './machine/ledger.ts';
import type { WorldPlan } from './spec.ts';

/** Current status of a host. */
export interface HostStatus {
  readonly name: string;
  readonly address: string;
  /** Names of the programs that run on it. */
  readonly running: readonly string[];
  /** Names of the programs that were started and have ended. */
  readonly ended: readonly string[];
  /** Proportional set size of all processes on it, pods included. */
  readonly memoryBytes: number;
}

/** Current status of a world. */
export interface WorldStatus {
  readonly id: string;
  readonly folder: string;
  readonly state: WorldState;
  readonly hosts: readonly HostStatus[];
  readonly kubeconfigs: Readonly<Record<string, string>>;
}

/** Returns the status of all worlds on this machine. */
export function worldStatuses(): WorldStatus[] {
  return worldIds().flatMap((id) => {
    const ledger = Ledger.find(id);
    return ledger ? [worldStatus(ledger)] : [];
  });
}

/** Returns the memory of a world's processes in bytes, without etcd's memory disks. */
export function memoryOf(id: string): number {
  const ledger = Ledger.find(id);
  return ledger ? cgroupMemory(ledger.cgroup) : 0;
}

/** Returns the status of a world, read from its ledger and from /proc. */
export function worldStatus(ledger: Ledger): WorldStatus {
  const entries = ledger.entries();
  const daemons = new Map<string, boolean>();
  for (const entry of entries)
    if (entry.kind === 'process') daemons.set(entry.name, isRunning(entry.process));
  const plan = readPlan(ledger.folder);
  const clusters = plan ? [plan.management, ...plan.tenants] : [];
  const addresses = new Map(
    clusters.flatMap(({ name, address, workers }) => [
      [name, address] as const,
      ...workers.map((worker) => [worker.name, worker.address] as const),
    ]),
  );
  const hosts = new Set([...daemons.keys()].map((name) => name.split('/')[0] ?? ''));
  return {
    id: ledger.id,
    folder: ledger.folder,
    state: worldState(entries),
    hosts: [...hosts].toSorted().map((host) => ({
      name: host,
      address: addresses.get(host) ?? '',
      running: daemonsOf(daemons, host, true),
      ended: daemonsOf(daemons, host, false),
      memoryBytes: cgroupMemory(`${ledger.cgroup}/${host}`),
    })),
    kubeconfigs: kubeconfigsOf(
      ledger.folder,
      clusters.map(({ name }) => name),
    ),
  };
}

function kubeconfigsOf(folder: string, clusters: readonly string[]): Record<string, string> {
  const kubeconfigs: Record<string, string> = {};
  for (const name of clusters) {
    const path = join(folder, name, 'kubeconfig');
    if (existsSync(path)) kubeconfigs[name] = path;
  }
  return kubeconfigs;
}

function daemonsOf(
  daemons: ReadonlyMap<string, boolean>,
  host: string,
  running: boolean,
): string[] {
  return [...daemons]
    .filter(([name, runs]) => name.startsWith(`${host}/`) && runs === running)
    .map(([name]) => name.slice(host.length + 1))
    .filter((name) => name !== 'init');
}

/** Sums the memory of a cgroup's processes. Reads one hierarchy, because every process of a host is in all of them. */
function cgroupMemory(cgroup: string): number {
  const path = cgroupPaths(cgroup)[0];
  if (!path) return 0;
  return cgroupProcesses(path).reduce((sum, pid) => sum + proportionalSetSize(pid), 0);
}

/**
 * Returns the PSS of a process, which splits shared pages among all processes: worlds run many copies of the same
 * programs.
 */
function proportionalSetSize(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0; // the process ended before it was read
  }
}

/** Returns undefined while the world is being created or if the file is damaged, because a status must not fail. */
function readPlan(folder: string): WorldPlan | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as WorldPlan;
  } catch {
    return undefined;
  }
}

/** Returns the programs of a world that have ended, with the end of their logs. */
export function endedDaemons(ledger: Ledger): { name: string; tail: string }[] {
  const running = new Map<string, boolean>();
  for (const entry of ledger.entries())
    if (entry.kind === 'process') running.set(entry.name, isRunning(entry.process));
  return [...running]
    .filter(([, runs]) => !runs)
    .map(([name]) => {
      const [host = '', daemon = ''] = name.split('/');
      const log = logsOf(ledger, host)[daemon];
      const tail = log
        ? readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
        : '(no log)';
      return { name, tail };
    });
}

/** Returns the log files of a host, by the name of the program. */
export function logsOf(ledger: Ledger, host: string): Record<string, string> {
  const folder = join(ledger.folder, host, 'log');
  if (!existsSync(folder)) return {};
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name.replace(/\.log$/, ''), join(folder, name)]),
  );
}
