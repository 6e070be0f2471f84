/**
 * The two ends of a connection as this engine keeps them: one object for each socket, hung on it as its `data`.
 *
 * Every field is set in the constructor, so that all objects of a class have one shape for the JIT.
 */
import type { Socket } from 'bun';
import { addressPair, type AddressPair } from '../../wire/address-pair.ts';
import type { Caller } from '../engine.ts';
import type { Endpoint } from '../endpoint.ts';

/** What client and upstream have in common: bytes on their way in, and how far each direction is. */
abstract class Side {
  /** Absent while an upstream is being dialled. */
  socket: Socket<unknown> | null;
  /** Bytes that the socket did not take yet. As long as there are any, the other side is paused. */
  queue: Uint8Array | null = null;
  /** We asked the socket not to read. */
  paused = false;
  /** Its FIN has arrived: it will say no more. */
  sawFin = false;
  /** The other side's FIN is due behind the queue. */
  owesFin = false;
  /** Our FIN is out: it will hear no more. */
  sentFin = false;
  /** The socket is gone. */
  closed = false;
  /** Bytes of the other side that the socket took, and at the head of the queue those that are ours (a preface). */
  bytes = 0;
  uncounted = 0;
  /** Where in the counters these bytes are added. */
  bytesAt = -1;

  constructor(socket: Socket<unknown> | null) {
    this.socket = socket;
  }

  /** Gives bytes to the socket and returns how many it took; a socket on its way out takes none. */
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

  /** Sends a FIN and keeps listening. */
  sendFin(): void {
    this.sentFin = true;
    if (!this.closed) this.socket?.shutdown();
  }

  /** Closes the socket: `reset` throws away what is on its way, and the peer gets to know. */
  close(how: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true; // first: Bun calls the close handler from within
    if (how === 'reset') this.socket?.terminate();
    else this.socket?.end();
  }
}

/** Where a connection is in its life. */
type Stage = 'hello' | 'dialling' | 'joined' | 'refused' | 'over';

interface Addresses {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/** The client's side, and what is known of the connection as a whole. */
export class ClientSide extends Side implements Caller {
  stage: Stage = 'hello';
  peer: UpstreamSide | null = null;
  note = 0;

  /** The first bytes, `firstBytes` of them; gone once the upstream has them. */
  first: Buffer | null = null;
  firstBytes = 0;
  /** Those that came while the upstream was being dialled. */
  waitingBytes = 0;
  dropBytes = 0;
  hasPreface = false;
  /** Both sockets have their keepalive. */
  settled = false;

  endpoint: Endpoint | undefined = undefined;
  slot = -1;
  /** Of the slot in the counters. */
  row = -1;
  attempts = 0;
  reason = 0;

  readonly acceptedMs: number;
  dialledMs = 0;
  /** When the present stage has taken too long. */
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

  /** Reads the addresses while there is a socket to ask: a closed one has none. */
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

  /** Adds to the first bytes. A chunk of Bun's is ours to keep: each has memory of its own. */
  append(chunk: Uint8Array): void {
    if (this.first === null) {
      this.first = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.firstBytes = chunk.byteLength;
      return;
    }
    const length = this.firstBytes + chunk.byteLength;
    if (length > this.first.length) {
      // Twice as much each time: a hello that comes byte by byte is copied a dozen times, not a thousand.
      const roomier = Buffer.allocUnsafeSlow(Math.max(2048, 2 * length));
      this.first.copy(roomier, 0, 0, this.firstBytes);
      this.first = roomier;
    }
    this.first.set(chunk, this.firstBytes);
    this.firstBytes = length;
  }
}

/** The upstream's side. A new one for each dial. */
export class UpstreamSide extends Side {
  readonly peer: ClientSide;
  /** The client is not waiting for this dial any more. */
  abandoned = false;

  constructor(client: ClientSide) {
    super(null);
    this.peer = client;
  }
}

/** Either. */
export type AnySide = ClientSide | UpstreamSide;
