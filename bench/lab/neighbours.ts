/** What others do on the machine meanwhile. Ratios stand that better than figures, but not for nothing. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Clock ticks in a second in all of /proc; Linux has shown 100 to programs for ever. */
const TICKS_PER_SECOND = 100;

/** Processor time since boot, in seconds. */
export interface ProcessorUse {
  /** Of the whole machine, the share that a hypervisor took included. */
  readonly machine: number;
  /** Of this process and the children that have ended. */
  readonly own: number;
  readonly at: number;
}

/** The use so far. To be asked when no child runs. */
export function processorUse(): ProcessorUse {
  const use = readUse(readFileSync('/proc/stat', 'utf8'), readFileSync('/proc/self/stat', 'utf8'));
  return { ...use, at: performance.now() / 1000 };
}

/** From the texts of /proc/stat and /proc/self/stat. */
export function readUse(machineStat: string, ownStat: string): { machine: number; own: number } {
  const fields = (machineStat.split('\n')[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  // Fields 14 to 17 of stat(5): own user and system time, then that of ended children. The name may hold spaces.
  const own = ownStat
    .slice(ownStat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return {
    machine: (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND,
    own: own.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND,
  };
}

/** How much of the machine others used between two moments, from 0 to 1. */
export function othersShare(before: ProcessorUse, after: ProcessorUse): number {
  const others = after.machine - before.machine - (after.own - before.own);
  const capacity = (after.at - before.at) * availableParallelism();
  return Math.min(1, Math.max(0, others / capacity));
}
