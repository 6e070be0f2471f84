/**
 * For tests only: a write that does not mind the state of its connection.
 */
import { isKubeError } from '../kube-error.ts';

const PAUSE_MS = 20;

/**
 * Repeats a write while the server cannot be reached. A client may take a connection that was reset just before, and on
 * a busy machine a handshake may take longer than the server waits for it. Only for writes that are the same if made
 * twice.
 */
export async function steadyWrite<T>(write: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isKubeError(error, 'Unreachable') || performance.now() > end) throw error;
    }
    await Bun.sleep(PAUSE_MS);
  }
}
