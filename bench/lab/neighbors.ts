/**
 * Measures how busy other processes keep the machine. Ratios are less sensitive to that than absolute figures, but not
 * immune.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Clock ticks per second in /proc. Linux always reports 100 to user space. */
const TICKS_PER_SECOND = 100;

/** CPU time since boot, in seconds. */
export interface ProcessorUse {
  /** Of the whole machine, including time stolen by the hypervisor. */
  readonly machine: number;
  /** Of this process and its terminated children. */
  readonly own: number;
  readonly at: number;
}

/** Returns the CPU time so far. Call it while no child is running. */
export function processorUse(): ProcessorUse {
  const use = readUse(readFileSync('/proc/stat', 'utf8'), readFileSync('/proc/self/stat', 'utf8'));
  return { ...use, at: performance.now() / 1000 };
}

/** Parses /proc/stat and /proc/self/stat. */
export function readUse(machineStat: string, ownStat: string): { machine: number; own: number } {
  const fields = (machineStat.split('\n')[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  // Fields 14 to 17 of stat(5): own user and system time, then that of terminated children. The process name may
  // contain spaces.
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

/** Returns the fraction of the machine that other processes used between two times, from 0 to 1. */
export function othersShare(before: ProcessorUse, after: ProcessorUse): number {
  const others = after.machine - before.machine - (after.own - before.own);
  const capacity = (after.at - before.at) * availableParallelism();
  return Math.min(1, Math.max(0, others / capacity));
}
