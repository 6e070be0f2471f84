import { readFileSync } from 'node:fs';

/**
 * A process and the moment it began. A PID alone is reused by the kernel; PID and start time together
 * name one process for as long as the machine is up.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, field 22 of /proc/PID/stat. */
  readonly startTicks: string;
}

/** The identity of a process that is running now, or undefined if there is none with this PID. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = processStat(pid);
  return stat && { pid, startTicks: stat.startTicks };
}

/** Is this very process still running? A zombie counts as gone: it holds nothing any more. */
export function isRunning(identity: ProcessIdentity): boolean {
  const stat = processStat(identity.pid);
  return stat?.startTicks === identity.startTicks && stat.state !== 'Z' && stat.state !== 'X';
}

/** The state of a process as in proc(5), `T` if it is stopped; undefined if there is none with this PID. */
export function stateOf(pid: number): string | undefined {
  return processStat(pid)?.state;
}

/** Sends a signal to this very process; answers false, and signals nobody, if it is gone. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** PIDs of the processes that the main thread of this one has started; none if it is gone. */
export function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return [];
    throw error;
  }
}

/** A process with its children and theirs, parents first. */
export function familyOf(pid: number): ProcessIdentity[] {
  const self = identityOf(pid);
  return self ? [self, ...childrenOf(pid).flatMap(familyOf)] : [];
}

/** Changes with every boot: what an earlier boot started cannot be running. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The command name may hold spaces and parentheses, so fields are counted from its last `)`. */
export function parseStat(text: string): { state: string; startTicks: string } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (!state || !startTicks) throw new Error(`/proc/PID/stat has another form: ${text}`);
  return { state, startTicks };
}

function processStat(pid: number): { state: string; startTicks: string } | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
