/**
 * The two sides of a connection in this engine: one object per socket, attached to it as its `data`.
 *
 * Every field is set in the constructor, so that all objects of a class have one shape for the JIT.
 */
import type { Socket } from 'bun';
import { addressPair, type AddressPair } from '../../wire/address-pair.ts';
import type { ClientConnection } from '../engine.ts';
import type { Endpoint } from '../endpoint.ts';

/** The state that client and upstream share: buffered bytes, and how far each direction is. */
abstract class Side {
  /** Null while an upstream is being dialed. */
  socket: Socket<unknown> | null;
  /** Bytes that the socket has not accepted yet. While there are any, the other side is paused. */
  queue: Uint8Array | null = null;
  /** Whether reading from the socket is paused. */
  paused = false;
  /** Whether its FIN has arrived. */
  sawFin = false;
  /** Whether the FIN of the other side must follow the queue. */
  owesFin = false;
  /** Whether our FIN was sent. */
  sentFin = false;
  /** Whether the socket is closed. */
  closed = false;
  /**
   * Number of bytes of the other side that the socket has accepted. `uncounted` is the number of bytes at the head of
   * the queue that belong to a preface and do not count.
   */
  bytes = 0;
  uncounted = 0;
  /** The index in the counters that these bytes are added to. */
  bytesAt = -1;

  constructor(socket: Socket<unknown> | null) {
    this.socket = socket;
  }

  /** Writes to the socket and returns the number of bytes that it accepted. A closing socket accepts none. */
  write(bytes: Uint8Array): number {
    return this.socket === null ? 0 : Math.max(0, this.socket.write(bytes));
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.socket?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.closed) this.socket?.resume();
  }

  /** Sends a FIN and keeps reading. */
  sendFin(): void {
    this.sentFin = true;
    if (!this.closed) this.socket?.shutdown();
  }

  /** Closes the socket. `reset` discards bytes in flight and notifies the peer. */
  close(closeMode: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true; // first: Bun calls the close handler from within
    if (closeMode === 'reset') this.socket?.terminate();
    else this.socket?.end();
  }
}

/** The stage of a connection. */
type Stage = 'hello' | 'dialing' | 'joined' | 'refused' | 'over';

interface Addresses {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/** The side of the client, and the state of the connection as a whole. */
export class ClientSide extends Side implements ClientConnection {
  stage: Stage = 'hello';
  peer: UpstreamSide | null = null;
  note = 0;

  /** The first bytes, `firstBytes` of them. Null once they were sent to the upstream. */
  first: Buffer | null = null;
  firstBytes = 0;
  /** Number of bytes that arrived while the upstream was being dialed. */
  waitingBytes = 0;
  dropBytes = 0;
  hasPreface = false;
  /** Whether keepalive is enabled on both sockets. */
  hasKeepalive = false;

  endpoint: Endpoint | undefined = undefined;
  slot = -1;
  /** The row of the slot in the counters. */
  row = -1;
  attempts = 0;
  reason = 0;

  readonly acceptedMs: number;
  dialedMs = 0;
  /** When the timeout of the current stage is over. */
  deadlineMs: number;
  #addresses: Addresses | null = null;

  constructor(socket: Socket<unknown>, acceptedMs: number, deadlineMs: number) {
    super(socket);
    this.acceptedMs = acceptedMs;
    this.deadlineMs = deadlineMs;
  }

  get remoteAddress(): string {
    return this.lookUp().remoteAddress;
  }
  get remotePort(): number {
    return this.lookUp().remotePort;
  }
  get addresses(): AddressPair {
    const { remoteAddress, remotePort, localAddress, localPort } = this.lookUp();
    return addressPair(remoteAddress, remotePort, localAddress, localPort);
  }

  /** Reads the addresses once and caches them, because a closed socket has none. */
  lookUp(): Addresses {
    if (this.#addresses !== null) return this.#addresses;
    const socket = this.socket;
    this.#addresses = {
      remoteAddress: socket?.remoteAddress ?? '',
      remotePort: socket?.remotePort ?? 0,
      localAddress: socket?.localAddress ?? '',
      localPort: socket?.localPort ?? 0,
    };
    return this.#addresses;
  }

  /** Appends to the first bytes. A chunk of Bun may be kept without a copy: each chunk has its own memory. */
  append(chunk: Uint8Array): void {
    if (this.first === null) {
      this.first = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.firstBytes = chunk.byteLength;
      return;
    }
    const length = this.firstBytes + chunk.byteLength;
    if (length > this.first.length) {
      // Doubles the capacity: a hello that arrives byte by byte is copied a dozen times, not a thousand.
      const larger = Buffer.allocUnsafeSlow(Math.max(2048, 2 * length));
      this.first.copy(larger, 0, 0, this.firstBytes);
      this.first = larger;
    }
    this.first.set(chunk, this.firstBytes);
    this.firstBytes = length;
  }
}

/** The side of the upstream. Each dial creates a new one. */
export class UpstreamSide extends Side {
  readonly peer: ClientSide;
  /** Whether the client no longer waits for this dial. */
  abandoned = false;

  constructor(client: ClientSide) {
    super(null);
    this.peer = client;
  }
}

/** Either side. */
export type AnySide = ClientSide | UpstreamSide;
