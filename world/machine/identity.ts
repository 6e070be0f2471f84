import { readFileSync } from 'node:fs';

/**
 * A process and its start time. The kernel reuses a PID; together with the start time it identifies one process until
 * the machine reboots.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, field 22 of /proc/PID/stat. */
  readonly startTicks: string;
}

/** Returns the identity of a running process; undefined if no process has this PID. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = processStat(pid);
  return stat && { pid, startTicks: stat.startTicks };
}

/**
 * Reports whether the process with this PID and start time is running. A zombie is not, because it holds no resources.
 */
export function isRunning(identity: ProcessIdentity): boolean {
  const stat = processStat(identity.pid);
  return stat?.startTicks === identity.startTicks && stat.state !== 'Z' && stat.state !== 'X';
}

/** Returns the state of a process as in proc(5), `T` if it is stopped; undefined if no process has this PID. */
export function stateOf(pid: number): string | undefined {
  return processStat(pid)?.state;
}

/** Sends a signal to the process with this PID and start time. Returns false if the process is gone. */
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

/** Returns the PIDs of the processes that the main thread of a process has started; none if the process is gone. */
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

/** Returns a process and its descendants, parents first. */
export function familyOf(pid: number): ProcessIdentity[] {
  const self = identityOf(pid);
  return self ? [self, ...childrenOf(pid).flatMap(familyOf)] : [];
}

/** Returns an ID that changes with every boot. Processes of an earlier boot cannot be running. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/**
 * Parses /proc/PID/stat. The command name may contain spaces and parentheses, so fields are counted from the last `)`.
 */
export function parseStat(text: string): { state: string; startTicks: string } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (!state || !startTicks) throw new Error(`unknown format of /proc/PID/stat: ${text}`);
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
