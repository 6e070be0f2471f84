/**
 * Whether a process would be alone on its ports. The threads of a gateway share theirs (SO_REUSEPORT), and the kernel
 * lets two processes of one user share them as well: each gets a part of the connections, whatever it knows of them.
 */
import { listenPlain } from '../bun/plain-listener.ts';
import type { ListenAddress } from './listen-address.ts';
import { CannotListen, listenOnAll } from './listen-all.ts';

/** Listens on each for a moment, sharing it with nobody; gives why that cannot be done, and nothing if it can. */
export function whyNotAlone(wanted: readonly ListenAddress[]): CannotListen | undefined {
  const opened: { stop(closeActive: boolean): void }[] = [];
  const listen = (at: ListenAddress): void => {
    opened.push(listenPlain(at, { open: (socket) => socket.terminate(), data() {} }));
  };
  try {
    // Of a machine without IPv6 whoever listens for good will tell.
    listenOnAll({ listen }, wanted, () => {});
    return undefined;
  } catch (error) {
    if (error instanceof CannotListen) return error;
    throw error;
  } finally {
    for (const listener of opened) listener.stop(true);
  }
}
