/** Selects the next scenario, as a pure function of the capacity of the machine. */
import type { Scenario } from './scenarios.ts';

/** The capacity of the machine for scenarios. */
export interface Capacity {
  /** How many scenarios may run at the same time. */
  readonly maxConcurrent: number;
  /** Inotify instances that scenarios may hold together. */
  readonly inotifyInstances: number;
  /** Memory that is available now. */
  readonly memoryMiB: number;
}

/** Memory that a scenario may take. A world with two tenants takes 1.5 GiB, and its programs grow. */
export const MEMORY_PER_SCENARIO_MIB = 4096;

/**
 * Returns the first of `waiting` that can start in addition to the running ones; undefined if none can. Optional
 * scenarios wait for core ones. If nothing runs, the first one starts regardless of the room; its world reports what is
 * missing.
 */
export function nextScenario(
  waiting: readonly Scenario[],
  running: readonly Scenario[],
  capacity: Capacity,
): Scenario | undefined {
  if (running.length === 0) return waiting[0];
  if (running.length >= capacity.maxConcurrent || running.some(({ isExclusive }) => isExclusive))
    return undefined;
  if (capacity.memoryMiB < MEMORY_PER_SCENARIO_MIB) return undefined;
  const used = running.reduce((sum, { inotifyInstances }) => sum + inotifyInstances, 0);
  const hasExclusiveCore = waiting.some(
    ({ isExclusive, isOptional }) => isExclusive && !isOptional,
  );
  return waiting.find(
    ({ isExclusive, isOptional, inotifyInstances }) =>
      !isExclusive &&
      !(isOptional && hasExclusiveCore) &&
      used + inotifyInstances <= capacity.inotifyInstances,
  );
}
