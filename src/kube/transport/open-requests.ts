/**
 * Counts the concurrent requests of Bun's `fetch`. Bun limits them in the whole process, across all servers. Further
 * requests wait silently. Watches do not count, since they use sockets of their own.
 */

/** Bun's default. */
const DEFAULT_LIMIT = 256;

/** Bun reads this variable at process start. Setting it later has no effect. */
const OPEN_REQUESTS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/** Returns how many requests a process with this environment can have open. */
export function openRequestLimit(env: Readonly<Record<string, string | undefined>>): number {
  const value = Number(env[OPEN_REQUESTS_VARIABLE]);
  return Number.isInteger(value) && value > 0 ? value : DEFAULT_LIMIT;
}

let open = 0;

/** Runs a request, and counts it while it runs. */
export async function countedRequest<T>(request: () => Promise<T>): Promise<T> {
  open++;
  try {
    return await request();
  } finally {
    open--;
  }
}

/**
 * Returns a hint for a request without a response: it may be waiting in Bun's queue, which looks the same. Empty if the
 * limit is not reached.
 */
export function starvationHint(): string {
  const limit = openRequestLimit(process.env);
  if (open < limit) return '';
  return `; this process has ${open} requests open and can send ${limit} at once: start it with ${OPEN_REQUESTS_VARIABLE}=65535`;
}
