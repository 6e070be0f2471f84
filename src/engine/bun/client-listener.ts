/**
 * Accepts connections on sockets of Bun: the listeners, the open connections and their limits. Used by engine `bun` and
 * by the proxy in mode terminate.
 */
import type { Socket, SocketHandler, TCPSocketListener } from 'bun';
import type { Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../counters.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import { overLimit, wantedDescriptors, type Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import { UnfinishedHellos } from '../unfinished-hellos.ts';
import { descriptorOf, listenTcp } from '../../net/tcp-listener.ts';
import type { ClientSide } from './side.ts';

const TICK_MS = 1000;

interface ClientListenerOptions<Client extends ClientSide> {
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  /** See {@link EngineOptions.allValues}. */
  readonly allValues: readonly Float64Array[];
  /** See {@link Router.isSharedSource}. Default: no address. */
  readonly isSharedSource?: (address: string) => boolean;
  /** Returns the number of dials that cannot be canceled. */
  readonly abandonedDials: () => number;
  /** Called once per second, from the first listener on. */
  readonly tick: () => void;
  /** Ends a connection. It must call {@link ClientListener.forget}. */
  readonly end: (client: Client, reason: number, closeMode: 'close' | 'reset') => void;
}

/** The listeners and the open connections of one engine. */
export class ClientListener<Client extends ClientSide> {
  readonly unfinished: UnfinishedHellos<Client>;

  readonly #options: ClientListenerOptions<Client>;
  readonly #listeners: TCPSocketListener<Client | undefined>[] = [];
  /** Ordered by arrival, because a Set preserves insertion order. */
  readonly #open = new Set<Client>();
  #stopTick: (() => void) | undefined;

  constructor(options: ClientListenerOptions<Client>) {
    this.#options = options;
    const { limits, counters, isSharedSource = () => false } = options;
    const addressOf = (client: Client) => client.remoteAddress;
    this.unfinished = new UnfinishedHellos({ limits, counters, addressOf, isSharedSource });
  }

  /** Listens on one more address and returns the port. @throws the system's error, with its `code`. */
  listen(options: ListenOptions, handlers: SocketHandler<Client | undefined>): number {
    const listener = listenTcp(options, handlers);
    this.#listeners.push(listener);
    this.#stopTick ??= this.#options.clock.every(TICK_MS, () => this.#tick());
    return listener.port;
  }

  stopAccepting(): void {
    for (const listener of this.#listeners.splice(0)) listener.stop();
  }

  /** Ends this many connections, oldest first, and returns the number of connections that it ended. */
  closeOldest(count: number): number {
    let closed = 0;
    for (const client of this.#open) {
      if (closed === count) break;
      // A FIN may only follow the last byte. A truncated stream must end with a reset.
      const isDelivered = client.queue === null && (client.peer?.queue ?? null) === null;
      this.#options.end(client, REASON.drained, isDelivered ? 'close' : 'reset');
      closed++;
    }
    return closed;
  }

  /** Resets all connections at once. */
  stop(): void {
    this.stopAccepting();
    for (const client of this.#open) this.#options.end(client, REASON.stopped, 'reset');
    this.#stopTick?.();
    this.#stopTick = undefined;
  }

  /**
   * Reports whether the limits admit a client that was just accepted. Counts and resets a client that they do not
   * admit.
   */
  admits(client: Client, socket: Socket<unknown>): boolean {
    const { counters, limits, allValues, abandonedDials } = this.#options;
    counters.add(GLOBAL.accepted, 1);
    const open = this.#open.size + abandonedDials();
    const wanted = wantedDescriptors(allValues);
    const refusal =
      overLimit(limits, open, descriptorOf(socket), wanted) ?? this.unfinished.admit(client);
    if (refusal !== undefined) {
      counters.fail(refusal, -1);
      client.close('reset');
      return false;
    }
    this.#open.add(client);
    counters.add(GLOBAL.open, 1);
    return true;
  }

  /** Forgets an admitted client whose connection has ended. */
  forget(client: Client): void {
    const { counters } = this.#options;
    this.#open.delete(client);
    this.unfinished.delete(client);
    counters.add(GLOBAL.open, -1);
    if (client.row >= 0) counters.add(client.row + COLUMN.open, -1);
  }

  /**
   * Enables keepalive on pairs that are at least a tick old. It takes eight system calls, so short connections do not
   * pay for it.
   */
  #tick(): void {
    const { limits, tick } = this.#options;
    tick();
    for (const client of this.#open) {
      const upstream = client.peer?.socket ?? null;
      if (client.hasKeepalive || upstream === null) continue;
      client.hasKeepalive = true;
      client.socket?.setKeepAlive(true, limits.keepaliveMs);
      upstream.setKeepAlive(true, limits.keepaliveMs);
    }
  }
}
