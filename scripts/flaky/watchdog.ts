/**
 * Cleans up after a disturbance that was killed: `watchdog.ts ROOT_PID ROOT_START`. Reads a line `PID START` from
 * standard input for each process that is about to be paused. When standard input ends, the disturbance was killed. The
 * watchdog then resumes the last of these processes and sends SIGTERM to the root, because no process waits for it.
 */
import { signal, type ProcessIdentity } from '../../world/machine/identity.ts';

const root = identityIn(process.argv.slice(2).join(' '));
const paused = identityIn((await Bun.stdin.text()).trimEnd().split('\n').at(-1) ?? '');
signal(paused, 'SIGCONT');
signal(root, 'SIGTERM');

function identityIn(line: string): ProcessIdentity {
  const [pid, startTicks = ''] = line.split(' ');
  return { pid: Number(pid), startTicks };
}
