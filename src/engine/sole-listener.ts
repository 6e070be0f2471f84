/**
 * Whether the ports of the gateway are free. The threads of a gateway share theirs, and the kernel would let two processes
 * of one user share them as well: each would get half of the clients, of the tenants that only the other knows.
 */
import { listenPlain } from '../engine/bun/plain-listener.ts';
import type { ListenAddress } from '../engine/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll } from '../engine/listen-all.ts';

/** Listens on each for a moment, alone. @throws if one cannot be had so */
export function refuseSharedPorts(wanted: readonly ListenAddress[]): void {
  const opened: { stop(closeActive: boolean): void }[] = [];
  const listen = (at: ListenAddress): void => {
    opened.push(listenPlain(at, { open: (socket) => socket.terminate(), data() {} }));
  };
  try {
    // On a machine without IPv6 the gateway says what it skips.
    listenOnAll({ listen }, wanted, () => {});
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    throw new Error(`${error.message}; ${adviceFor(error)}`, { cause: error });
  } finally {
    for (const listener of opened) listener.stop(true);
  }
}
