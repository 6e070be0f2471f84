import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { isPinned } from '../lab/placement.ts';
import type { IdleMemory } from '../measure/idle.ts';
import type { Sample } from '../measure/rounds.ts';
import type { RouteCosts } from '../measure/routes.ts';

/** Where it was measured. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  /** Was the proxy alone on a processor? */
  readonly pinned: boolean;
}

/** All that a run has found. */
export interface Results {
  readonly date: string;
  readonly mode: 'quick' | 'full';
  readonly machine: Machine;
  /** How much of the machine others used during the run, from 0 to 1. Above a tenth or so, repeat it. */
  readonly othersShare: number;
  /** Of each peer that ran. */
  readonly versions: Readonly<Record<string, string>>;
  /** Peers and measurements that could not be had, and why. */
  readonly failures: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
  readonly idle: readonly IdleMemory[];
  readonly routes?: RouteCosts;
}

/** This machine, now. */
export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    pinned: isPinned,
  };
}

/** Saves a run in a folder of its own, and returns its path. */
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
