import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { isPinned } from '../lab/placement.ts';
import type { IdleMemory } from '../measure/idle.ts';
import type { Sample } from '../measure/rounds.ts';
import type { RouteCosts } from '../measure/routes.ts';

/** The machine of a run. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  /** Whether the proxy had a dedicated CPU. */
  readonly pinned: boolean;
}

/** The results of a run. */
export interface Results {
  readonly date: string;
  readonly mode: 'quick' | 'full';
  readonly machine: Machine;
  /**
   * Fraction of the machine that other processes used during the run, from 0 to 1. Repeat the run if it is above 0.1 or
   * so.
   */
  readonly othersShare: number;
  /** Version of each peer that ran. */
  readonly versions: Readonly<Record<string, string>>;
  /** Peers and measurements that failed, with the reason. */
  readonly failures: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
  readonly idle: readonly IdleMemory[];
  readonly routes?: RouteCosts;
}

/** Returns a description of this machine. */
export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    pinned: isPinned,
  };
}

/** Saves a run in a new folder and returns its path. */
export function saveResults(
  results: Results,
  texts: { readonly table: string; readonly plot: string },
): string {
  const name = `${results.date.slice(0, 16).replace('T', '-').replace(':', '')}-${results.mode}`;
  const folder = join(import.meta.dir, '..', 'results', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(folder, 'table.md'), texts.table);
  writeFileSync(join(folder, 'plot.svg'), texts.plot);
  return folder;
}
