/**
 * Runs a program in a new session. When a shell ends, the kernel sends SIGHUP to each of its process groups that has
 * a stopped member, and a run stops processes repeatedly. The groups of a new session do not belong to the shell.
 */
import { readFileSync } from 'node:fs';

/**
 * Restarts this program as the leader of a new session, forwards interrupts to it, and returns its exit code. Returns
 * undefined if this process already leads a session.
 */
export async function runInNewSession(): Promise<number | undefined> {
  if (sessionOf(process.pid) === process.pid) return undefined;
  const leader = Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => leader.kill(signal));
  }
  return leader.exited;
}

/** Returns the session of a process: the PID of its leader, field 6 of /proc/PID/stat. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
