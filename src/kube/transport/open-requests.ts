/**
 * How many requests Bun's `fetch` has under way. It allows a number in the whole process, whatever the server; those
 * beyond wait, silently, until another ends. Watches do not count: they go by sockets of their own.
 */

/** So many if nothing else is said. */
const DEFAULT_LIMIT = 256;

/** Bun reads it when the process starts; to set it from within is too late. */
export const OPEN_REQUESTS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/** How many requests a process with this environment can have open at once. */
export function openRequestLimit(env: Readonly<Record<string, string | undefined>>): number {
  const value = Number(env[OPEN_REQUESTS_VARIABLE]);
  return Number.isInteger(value) && value > 0 ? value : DEFAULT_LIMIT;
}

let open = 0;

/** Counts a request for as long as it takes. */
export async function countedRequest<T>(request: () => Promise<T>): Promise<T> {
  open++;
  try {
    return await request();
  } finally {
    open--;
  }
}

/** For a request without an answer: it may be that it waits in Bun's queue, which looks the same. Often empty. */
export function starvationHint(): string {
  const limit = openRequestLimit(process.env);
  if (open < limit) return '';
  return `; this process has ${open} requests open and can send ${limit} at once: start it with ${OPEN_REQUESTS_VARIABLE}=65535`;
}
