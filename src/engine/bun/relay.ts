/**
 * Bytes and FINs from one side of a pair to the other. Knows sides and counters; that sockets are Bun's it need not know.
 *
 * A stalled reader costs what Bun hands over in one event, at most 512 KB: then its writer is paused, and the kernel's
 * buffers fill up behind it. While paused, Bun reports no FIN, but does report a reset. All of them together may cost
 * Limits.maxKeptBytes: the connection that would add to that is reset, and the others do not notice.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import type { KeptLimit } from '../kept-limit.ts';
import { REASON } from '../reasons.ts';
import { ClientSide, type AnySide, type UpstreamSide } from './side.ts';

/** Called when a connection is over. */
export type Done = (client: ClientSide, reason: number, how: 'close' | 'reset') => void;

/** Joins pairs and keeps them going until both directions are done, or one side is lost. */
export class Relay {
  readonly #counters: Counters;
  readonly #limit: KeptLimit;
  readonly #done: Done;

  constructor(counters: Counters, limit: KeptLimit, done: Done) {
    this.#counters = counters;
    this.#limit = limit;
    this.#done = done;
  }

  /** Gives the upstream the first bytes, of which `uncounted` are ours and not the client's, and the FIN behind them. */
  start(client: ClientSide, upstream: UpstreamSide, first: Uint8Array, uncounted: number): void {
    upstream.uncounted = uncounted;
    client.resume();
    if (first.length > 0) this.pass(client, upstream, first);
    if (client.sawFin) this.fin(client, upstream);
  }

  /** A chunk has arrived. */
  pass(from: AnySide, to: AnySide, chunk: Uint8Array): void {
    if (to.queue !== null) {
      // Rare: a chunk that was on its way when we asked for the pause.
      this.#keep(to, Buffer.concat([to.queue, chunk]));
      this.#judge(to);
      return;
    }
    const written = this.#write(to, chunk);
    if (written === chunk.length) return;
    this.#keep(to, compact(chunk.subarray(written)));
    from.pause();
    this.#judge(to);
  }

  /** The socket of this side takes bytes again. Bun also says so for no reason. */
  drained(side: AnySide): void {
    if (side.queue === null || side.peer === null) return;
    const written = this.#write(side, side.queue);
    const isThrough = written === side.queue.length;
    this.#keep(side, isThrough ? null : compact(side.queue.subarray(written)));
    if (side.queue !== null) return;
    if (side.owesFin) this.#sendFin(side, side.peer);
    else side.peer.resume();
  }

  /** The last byte of this side has arrived. */
  fin(from: AnySide, to: AnySide): void {
    from.sawFin = true;
    if (to.queue === null) this.#sendFin(to, from);
    else to.owesFin = true;
  }

  /**
   * The socket of this side is gone, and not because we closed it. Without an error that is no loss if our FIN was out:
   * Bun then reports the peer's FIN as a close, with no `end` before it.
   */
  closed(side: AnySide, peer: AnySide, error: Error | undefined): void {
    side.closed = true;
    if (error === undefined && side.sentFin) {
      if (!side.sawFin) this.fin(side, peer);
      return;
    }
    const isClient = side instanceof ClientSide;
    const lost = isClient ? REASON.client_reset : REASON.upstream_reset;
    // Whoever resets after its FIN has said all, and wants to hear no more.
    this.#done(isClient ? side : side.peer, side.sawFin ? REASON.completed : lost, 'reset');
  }

  /** So many more of a client's first bytes wait for its dial. */
  hold(client: ClientSide, bytes: number): void {
    client.waitingBytes += bytes;
    this.#counters.add(GLOBAL.keptBytes, bytes);
    this.#judge(client);
  }

  /** They wait no more. */
  release(client: ClientSide): void {
    if (client.waitingBytes === 0) return;
    this.#counters.add(GLOBAL.keptBytes, -client.waitingBytes);
    client.waitingBytes = 0;
  }

  /** Lets go of what was kept for a side. */
  forget(side: AnySide): void {
    this.#keep(side, null);
  }

  /** If this was the last open direction, closing does as well as a FIN, and saves a call. */
  #sendFin(to: AnySide, from: AnySide): void {
    to.owesFin = false;
    if (!to.sawFin || from.queue !== null) to.sendFin();
    else this.#done(to instanceof ClientSide ? to : to.peer, REASON.completed, 'close');
  }

  #write(to: AnySide, bytes: Uint8Array): number {
    const written = to.write(bytes);
    const ours = Math.min(to.uncounted, written);
    to.uncounted -= ours;
    to.bytes += written - ours;
    this.#counters.add(to.bytesAt, written - ours);
    return written;
  }

  /** Something was kept for this side, or of it: it goes if that was too much. */
  #judge(side: AnySide): void {
    if (!this.#limit.isExceeded) return;
    const client = side instanceof ClientSide ? side : side.peer;
    this.#done(client, REASON.kept_bytes_limit, 'reset');
  }

  #keep(side: AnySide, bytes: Uint8Array | null): void {
    const more = (bytes?.length ?? 0) - (side.queue?.length ?? 0);
    if (more !== 0) this.#counters.add(GLOBAL.keptBytes, more);
    side.queue = bytes;
  }
}

/** The rest of a chunk holds all of its memory: a small one is copied, so that no more than twice what is counted is held. */
function compact(rest: Uint8Array): Uint8Array {
  return 2 * rest.byteLength < rest.buffer.byteLength ? new Uint8Array(rest) : rest;
}
