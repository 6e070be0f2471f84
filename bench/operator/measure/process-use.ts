/** Reads the resource use of a process from /proc. */
import { readFileSync } from 'node:fs';

/** Clock ticks per second in /proc. Linux always reports 100 to user space. */
const TICKS_PER_SECOND = 100;

/** CPU time since the start of the process, and its current memory. */
export interface ProcessUse {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Peak resident memory. */
  readonly peakBytes: number;
}

/** Returns the resource use of a process. */
export function processUse(pid: number): ProcessUse {
  return readProcessUse(
    readFileSync(`/proc/${pid}/stat`, 'utf8'),
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  );
}

/** Parses /proc/PID/stat and /proc/PID/status. */
export function readProcessUse(stat: string, status: string): ProcessUse {
  // Fields 14 and 15 of stat(5). The process name before them may contain spaces.
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
