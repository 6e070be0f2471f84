/**
 * Counts the concurrent requests of Bun's `fetch`. Bun limits them in the whole process, across all servers. Further
 * requests wait without an error. Watches do not count, because they use their own sockets.
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
 * Returns a hint for a request without a response: Bun may not have sent it yet, because the limit is reached. Empty if
 * it is not.
 */
export function requestLimitHint(): string {
  const limit = openRequestLimit(process.env);
  if (open < limit) return '';
  return `; this process has ${open} requests open and can send ${limit} at once: start it with ${OPEN_REQUESTS_VARIABLE}=65535`;
}
