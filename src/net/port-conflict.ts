/**
 * Detects other processes that listen on the same ports. The threads of a gateway share their ports (SO_REUSEPORT), and
 * the kernel allows a second process of the same user to share them too. That process would silently receive some of
 * the connections.
 */
import { listenTcp } from './tcp-listener.ts';
import type { ListenAddress } from './listen-address.ts';
import { CannotListen, listenOnAll } from './listen-all.ts';

/** Listens on each address for a moment without SO_REUSEPORT. Returns the first failure, or undefined. */
export function findPortConflict(addresses: readonly ListenAddress[]): CannotListen | undefined {
  const opened: { stop(closeActive: boolean): void }[] = [];
  const listen = (at: ListenAddress): void => {
    opened.push(listenTcp(at, { open: (socket) => socket.terminate(), data() {} }));
  };
  try {
    // The gateway logs missing IPv6 when it listens permanently.
    listenOnAll({ listen }, addresses, () => {});
    return undefined;
  } catch (error) {
    if (error instanceof CannotListen) return error;
    throw error;
  } finally {
    for (const listener of opened) listener.stop(true);
  }
}
