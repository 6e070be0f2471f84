/**
 * The sockets that clients come from.
 */
import { ipVersion } from '../../wire/ip-address.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import type { SocketEnd } from '../../system/socket-address.ts';
import type { Ends } from './ends.ts';
import * as libc from '../../system/libc.ts';
import { errno } from '../../system/libc.ts';
import { ERRNO } from '../../system/linux.ts';
import type { Poller } from '../../system/poller.ts';
import { accept, localEnd, openListener } from './socket.ts';

/** Connections taken from a listener before the others have their turn. */
const ACCEPT_ROUNDS = 64;

/** The parts of an engine that a listener touches. */
export interface ListenersOptions {
  readonly ends: Ends;
  readonly poller: Poller;
  readonly keepaliveMs: number;
  /** Takes in a client that this listener has just accepted, or sends it away. */
  readonly admit: (client: number, listener: number) => void;
}

/** The listeners of one engine. */
export class Listeners {
  readonly #options: ListenersOptions;
  /** Whether each is watched: not while there are no descriptors for new connections. */
  readonly #watched = new Map<number, boolean>();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Opens one more and returns its port. @throws the system's error, with its `code`. */
  open(options: ListenOptions): number {
    const { ends, keepaliveMs } = this.#options;
    const { address } = options;
    if (ipVersion(address) === 0) {
      throw new TypeError(`'${address}' is not an IP address to listen on`);
    }
    const listener = openListener(options, keepaliveMs);
    const { address: bytes, port } = localEnd(listener);
    ends.openListener(listener, entranceAt({ address: Uint8Array.from(bytes), port }));
    this.#watch(listener);
    return port;
  }

  /** Takes in those who wait at one of them. */
  accept(listener: number): void {
    for (let round = 0; round < ACCEPT_ROUNDS; round++) {
      const client = accept(listener);
      if (client < 0) {
        const failure = errno();
        if (isOfOneClient(failure)) continue;
        if (failure !== ERRNO.EAGAIN) this.#rest(listener);
        return;
      }
      this.#options.admit(client, listener);
    }
  }

  /** Tries those again that had nobody let in for want of descriptors or memory. */
  wake(): void {
    for (const [listener, isWatched] of this.#watched) if (!isWatched) this.#watch(listener);
  }

  close(): void {
    for (const listener of this.#watched.keys()) {
      this.#options.ends.free(listener);
      libc.close(listener);
    }
    this.#watched.clear();
  }

  #watch(listener: number): void {
    const { ends, poller } = this.#options;
    this.#watched.set(listener, poller.watchLevel(listener, ends.generationOf(listener)));
  }

  /** It would be ready for ever, and let nobody in. */
  #rest(listener: number): void {
    this.#options.poller.unwatch(listener);
    this.#watched.set(listener, false);
  }
}

/** An address of its own is that of all its clients; one that stands for any is that of none. */
function entranceAt(bound: SocketEnd): SocketEnd | undefined {
  return bound.address.every((byte) => byte === 0) ? undefined : bound;
}

/** Failures of accept() that concern the connection that was to be accepted, and no other. */
function isOfOneClient(failure: number): boolean {
  return failure === ERRNO.ECONNABORTED || failure === ERRNO.EPROTO || failure === ERRNO.EINTR;
}
