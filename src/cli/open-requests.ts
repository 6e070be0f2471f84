/**
 * Bun keeps no more than 256 requests open in one process, and reads another number from its environment at its start
 * only. With two watches for every tenant that is soon too few, and nobody should have to know.
 */
import { OPEN_REQUESTS_VARIABLE } from '../kube/transport-limits.ts';

/** The highest that Bun takes. */
const MOST = '65535';

/**
 * Starts this program over in the same process, with the same words, if it cannot have as many requests open as it may
 * need. Costs some 20 ms; to be called before anything else is begun. Whoever has set a number keeps it.
 */
export function allowManyRequests(): void {
  if (process.env[OPEN_REQUESTS_VARIABLE] !== undefined || process.execve === undefined) return;
  // The executable finds its program in itself; Bun has to be told where it is.
  const words = Bun.isStandaloneExecutable
    ? process.argv.slice(2)
    : [...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, [process.argv0, ...words], {
    ...process.env,
    [OPEN_REQUESTS_VARIABLE]: MOST,
  });
}
