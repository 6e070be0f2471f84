/**
 * For tests only: writes that tolerate connection failures.
 */
import { isKubeError } from '../kube-error.ts';

const PAUSE_MS = 20;

/**
 * Repeats a write while the server is unreachable. A client may reuse a connection that was just reset, and on a busy
 * machine a handshake may time out. Only for idempotent writes.
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
