import { readdirSync, readFileSync } from 'node:fs';

/** A process as /proc shows it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in clock ticks since boot: a PID alone may belong to another process later. */
  readonly startTicks: string;
  /** `R`, `S`, `T` for stopped, and so on; see proc(5). */
  readonly state: string;
}

/** Every process of this machine. */
export function allProcesses(): readonly ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    const entry = /^\d+$/.test(name) ? processEntry(Number(name)) : undefined;
    return entry === undefined ? [] : [entry];
  });
}

/** One process; undefined if it is gone. */
export function processEntry(pid: number): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // it has ended
  }
  // The second field is the name in parentheses, which may hold anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = ''] = fields;
  return { pid, parent: Number(parent), startTicks: fields[19] ?? '', state };
}

/** The children of a process, their children, and so on. */
export function descendantsOf(
  root: number,
  processes: readonly ProcessEntry[],
): readonly ProcessEntry[] {
  const byParent = Map.groupBy(processes, ({ parent }) => parent);
  const found: ProcessEntry[] = [];
  const next = [root];
  for (let pid = next.pop(); pid !== undefined; pid = next.pop()) {
    for (const child of byParent.get(pid) ?? []) {
      found.push(child);
      next.push(child.pid);
    }
  }
  return found;
}
