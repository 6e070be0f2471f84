/**
 * Where connections come in by Bun's sockets: the listeners, who is inside, and how many may be. Engine `bun` has one,
 * and so has the proxy where it ends TLS.
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

/** The rest of an engine, as its door needs to know it. */
export interface FrontDoorOptions<Client extends ClientSide> {
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  /** See {@link EngineOptions.allValues}. */
  readonly allValues: readonly Float64Array[];
  /** See {@link Switchboard.standsForMany}. Default: none does. */
  readonly standsForMany?: (address: string) => boolean;
  /** Dials that cannot be taken back. */
  readonly abandonedDials: () => number;
  /** Once a second, from the first listener on. */
  readonly tick: () => void;
  /** Ends a connection; calls {@link FrontDoor.leave} in its course. */
  readonly end: (client: Client, reason: number, how: 'close' | 'reset') => void;
}

/** The door of one engine. */
export class FrontDoor<Client extends ClientSide> {
  readonly unfinished: UnfinishedHellos<Client>;

  readonly #options: FrontDoorOptions<Client>;
  readonly #listeners: TCPSocketListener<Client | undefined>[] = [];
  /** A Set keeps its order: the oldest comes first. */
  readonly #inside = new Set<Client>();
  #stopTick: (() => void) | undefined;

  constructor(options: FrontDoorOptions<Client>) {
    this.#options = options;
    const { limits, counters, standsForMany = () => false } = options;
    const addressOf = (client: Client) => client.remoteAddress;
    this.unfinished = new UnfinishedHellos({ limits, counters, addressOf, standsForMany });
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

  /** Ends this many, those accepted first, and returns how many there were. */
  closeOldest(count: number): number {
    let closed = 0;
    for (const client of this.#inside) {
      if (closed === count) break;
      // An end may only come behind the last byte: what is cut short has to look like it.
      const isWhole = client.queue === null && (client.peer?.queue ?? null) === null;
      this.#options.end(client, REASON.drained, isWhole ? 'close' : 'reset');
      closed++;
    }
    return closed;
  }

  /** Ends everybody at once. */
  stop(): void {
    this.stopAccepting();
    for (const client of this.#inside) this.#options.end(client, REASON.stopped, 'reset');
    this.#stopTick?.();
    this.#stopTick = undefined;
  }

  /** Whether a client that was just accepted may stay. One that may not is counted and reset. */
  admits(client: Client, socket: Socket<unknown>): boolean {
    const { counters, limits, allValues, abandonedDials } = this.#options;
    counters.add(GLOBAL.accepted, 1);
    const open = this.#inside.size + abandonedDials();
    const wanted = wantedDescriptors(allValues);
    const refusal =
      overLimit(limits, open, descriptorOf(socket), wanted) ?? this.unfinished.admit(client);
    if (refusal !== undefined) {
      counters.fail(refusal, -1);
      client.close('reset');
      return false;
    }
    this.#inside.add(client);
    counters.add(GLOBAL.open, 1);
    return true;
  }

  /** A client that was admitted is over. */
  leave(client: Client): void {
    const { counters } = this.#options;
    this.#inside.delete(client);
    this.unfinished.delete(client);
    counters.add(GLOBAL.open, -1);
    if (client.row >= 0) counters.add(client.row + COLUMN.open, -1);
  }

  /** A pair that has lived for a tick gets its keepalive: eight system calls that a short one need not pay for. */
  #tick(): void {
    const { limits, tick } = this.#options;
    tick();
    for (const client of this.#inside) {
      const upstream = client.peer?.socket ?? null;
      if (client.settled || upstream === null) continue;
      client.settled = true;
      client.socket?.setKeepAlive(true, limits.keepaliveMs);
      upstream.setKeepAlive(true, limits.keepaliveMs);
    }
  }
}
