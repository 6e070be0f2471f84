/** The listening sockets of the engine. */
import { ipVersion } from '../../wire/ip-address.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import type { SocketAddress } from '../../system/socket-address.ts';
import type { SocketTable } from './socket-table.ts';
import * as libc from '../../system/libc.ts';
import { errno } from '../../system/libc.ts';
import { ERRNO } from '../../system/linux.ts';
import type { Poller } from '../../system/poller.ts';
import { accept, localAddressOf, openListener } from './socket.ts';

/** Maximum number of connections to accept before other sockets get their turn. */
const ACCEPT_ROUNDS = 64;

interface ListenersOptions {
  readonly sockets: SocketTable;
  readonly poller: Poller;
  readonly keepaliveMs: number;
  /** Admits a client that this listener has just accepted, or resets it. */
  readonly admit: (client: number, listener: number) => void;
}

/** The listeners of one engine. */
export class Listeners {
  readonly #options: ListenersOptions;
  /** Whether epoll watches each listener. It does not while there are no descriptors for new connections. */
  readonly #watched = new Map<number, boolean>();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Opens a listener and returns its port. @throws the system's error, with its `code`. */
  open(options: ListenOptions): number {
    const { sockets, keepaliveMs } = this.#options;
    const { address } = options;
    if (ipVersion(address) === 0) {
      throw new TypeError(`'${address}' is not an IP address to listen on`);
    }
    const listener = openListener(options, keepaliveMs);
    const { address: bytes, port } = localAddressOf(listener);
    sockets.openListener(listener, commonAddress({ address: Uint8Array.from(bytes), port }));
    this.#watch(listener);
    return port;
  }

  /** Accepts the connections that wait at a listener. */
  accept(listener: number): void {
    for (let round = 0; round < ACCEPT_ROUNDS; round++) {
      const client = accept(listener);
      if (client < 0) {
        const failure = errno();
        if (concernsOneClient(failure)) continue;
        if (failure !== ERRNO.EAGAIN) this.#unwatch(listener);
        return;
      }
      this.#options.admit(client, listener);
    }
  }

  /** Watches the listeners again that could not accept for lack of descriptors or memory. */
  wake(): void {
    for (const [listener, isWatched] of this.#watched) if (!isWatched) this.#watch(listener);
  }

  close(): void {
    for (const listener of this.#watched.keys()) {
      this.#options.sockets.free(listener);
      libc.close(listener);
    }
    this.#watched.clear();
  }

  #watch(listener: number): void {
    const { sockets, poller } = this.#options;
    this.#watched.set(listener, poller.watchLevel(listener, sockets.generationOf(listener)));
  }

  /** Stops watching a listener that cannot accept: epoll would report it again and again. */
  #unwatch(listener: number): void {
    this.#options.poller.unwatch(listener);
    this.#watched.set(listener, false);
  }
}

/**
 * Returns the address that all clients of a listener dial. It differs for a wildcard listener, so the result is
 * undefined.
 */
function commonAddress(bound: SocketAddress): SocketAddress | undefined {
  return bound.address.every((byte) => byte === 0) ? undefined : bound;
}

/** Reports whether a failure of accept() concerns only the connection that was to be accepted. */
function concernsOneClient(failure: number): boolean {
  return failure === ERRNO.ECONNABORTED || failure === ERRNO.EPROTO || failure === ERRNO.EINTR;
}
