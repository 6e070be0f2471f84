/** What a process uses, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** Clock ticks in a second in all of /proc; Linux has shown 100 to programs for ever. */
const TICKS_PER_SECOND = 100;

/** Processor time so far and memory now. */
export interface ProcessUse {
  /** User and system, of all threads. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** The most that was resident at any time. */
  readonly peakBytes: number;
}

/** Of a process by its number. */
export function processUse(pid: number): ProcessUse {
  return readProcessUse(
    readFileSync(`/proc/${pid}/stat`, 'utf8'),
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  );
}

/** From the texts of /proc/PID/stat and /proc/PID/status. */
export function readProcessUse(stat: string, status: string): ProcessUse {
  // Fields 14 and 15 of stat(5). The name before them may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  return {
    cpuSeconds: ticks / TICKS_PER_SECOND,
    residentBytes: kilobytes('VmRSS') * 1024,
    peakBytes: kilobytes('VmHWM') * 1024,
  };
}
