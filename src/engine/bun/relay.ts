/**
 * Forwards bytes and FINs from one side of a pair to the other. It uses sides and counters, and does not depend on
 * sockets of Bun.
 *
 * A stalled reader costs what Bun delivers in one event, at most 512 KB. Then the relay pauses the writer, and the
 * buffers of the kernel fill up. While paused, Bun reports no FIN, but does report a reset. All connections together
 * may buffer Limits.maxBufferedBytes. The relay resets the connection that would exceed this limit, and no other.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import type { BufferLimit } from '../buffer-limit.ts';
import { REASON } from '../reasons.ts';
import { ClientSide, type AnySide, type UpstreamSide } from './side.ts';

/** Called when a connection is over. */
export type Done = (client: ClientSide, reason: number, closeMode: 'close' | 'reset') => void;

/** Forwards bytes of pairs until both directions are finished, or one side is lost. */
export class Relay {
  readonly #counters: Counters;
  readonly #limit: BufferLimit;
  readonly #done: Done;

  constructor(counters: Counters, limit: BufferLimit, done: Done) {
    this.#counters = counters;
    this.#limit = limit;
    this.#done = done;
  }

  /**
   * Sends the first bytes to the upstream, and the FIN if the client has sent it. The first `uncounted` bytes are the
   * preface, which does not count as bytes of the client.
   */
  start(client: ClientSide, upstream: UpstreamSide, first: Uint8Array, uncounted: number): void {
    upstream.uncounted = uncounted;
    client.resume();
    if (first.length > 0) this.pass(client, upstream, first);
    if (client.sawFin) this.fin(client, upstream);
  }

  /** Forwards a chunk that has arrived. */
  pass(from: AnySide, to: AnySide, chunk: Uint8Array): void {
    if (to.queue !== null) {
      // Rare: a chunk that was in flight when the socket was paused.
      this.#setQueue(to, Buffer.concat([to.queue, chunk]));
      this.#enforceLimit(to);
      return;
    }
    const written = this.#write(to, chunk);
    if (written === chunk.length) return;
    this.#setQueue(to, compact(chunk.subarray(written)));
    from.pause();
    this.#enforceLimit(to);
  }

  /** Handles that the socket of this side is writable again. Bun sometimes reports this without a cause. */
  drained(side: AnySide): void {
    if (side.queue === null || side.peer === null) return;
    const written = this.#write(side, side.queue);
    const isWritten = written === side.queue.length;
    this.#setQueue(side, isWritten ? null : compact(side.queue.subarray(written)));
    if (side.queue !== null) return;
    if (side.owesFin) this.#sendFin(side, side.peer);
    else side.peer.resume();
  }

  /** Handles the FIN of a side. */
  fin(from: AnySide, to: AnySide): void {
    from.sawFin = true;
    if (to.queue === null) this.#sendFin(to, from);
    else to.owesFin = true;
  }

  /**
   * Handles a socket that was closed, but not by us. Without an error and after our FIN, this is a normal end: Bun then
   * reports the FIN of the peer as a close, with no `end` before it.
   */
  closed(side: AnySide, peer: AnySide, error: Error | undefined): void {
    side.closed = true;
    if (error === undefined && side.sentFin) {
      if (!side.sawFin) this.fin(side, peer);
      return;
    }
    const isClient = side instanceof ClientSide;
    const lost = isClient ? REASON.client_reset : REASON.upstream_reset;
    // A side that resets after its FIN has sent everything and reads no more.
    this.#done(isClient ? side : side.peer, side.sawFin ? REASON.completed : lost, 'reset');
  }

  /** Counts first bytes of a client that wait for its dial. */
  hold(client: ClientSide, bytes: number): void {
    client.waitingBytes += bytes;
    this.#counters.add(GLOBAL.bufferedBytes, bytes);
    this.#enforceLimit(client);
  }

  /** Stops counting the bytes that {@link hold} counted. */
  release(client: ClientSide): void {
    if (client.waitingBytes === 0) return;
    this.#counters.add(GLOBAL.bufferedBytes, -client.waitingBytes);
    client.waitingBytes = 0;
  }

  /** Drops the bytes buffered for a side. */
  forget(side: AnySide): void {
    this.#setQueue(side, null);
  }

  /** Sends a FIN. If this was the last open direction, closes the connection instead, which saves a call. */
  #sendFin(to: AnySide, from: AnySide): void {
    to.owesFin = false;
    if (!to.sawFin || from.queue !== null) to.sendFin();
    else this.#done(to instanceof ClientSide ? to : to.peer, REASON.completed, 'close');
  }

  #write(to: AnySide, bytes: Uint8Array): number {
    const written = to.write(bytes);
    const prefaceBytes = Math.min(to.uncounted, written);
    to.uncounted -= prefaceBytes;
    to.bytes += written - prefaceBytes;
    this.#counters.add(to.bytesAt, written - prefaceBytes);
    return written;
  }

  /** Resets the connection of this side if the buffered bytes exceed the limit. */
  #enforceLimit(side: AnySide): void {
    if (!this.#limit.isExceeded) return;
    const client = side instanceof ClientSide ? side : side.peer;
    this.#done(client, REASON.buffered_bytes_limit, 'reset');
  }

  #setQueue(side: AnySide, bytes: Uint8Array | null): void {
    const added = (bytes?.length ?? 0) - (side.queue?.length ?? 0);
    if (added !== 0) this.#counters.add(GLOBAL.bufferedBytes, added);
    side.queue = bytes;
  }
}

/**
 * Copies the rest of a chunk if it is small, because a view would retain the memory of the whole chunk. So the process
 * retains at most twice the bytes that it counts.
 */
function compact(rest: Uint8Array): Uint8Array {
  return 2 * rest.byteLength < rest.buffer.byteLength ? new Uint8Array(rest) : rest;
}
