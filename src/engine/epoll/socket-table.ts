/**
 * The state of every socket, in typed arrays indexed by file descriptor. A connection allocates no object and so causes
 * no garbage collection. An idle socket takes little more than 100 bytes.
 *
 * A connection has two sockets: that of the client, whose descriptor also identifies the connection, and that of the
 * upstream.
 */
import type { Endpoint } from '../endpoint.ts';
import { SOCKADDR_WORDS, type SocketAddress } from '../../system/socket-address.ts';
import { copyAccepted } from './socket.ts';

/** The stage of a socket. */
export const STAGE = {
  free: 0,
  /** A client with incomplete first bytes. They stay in the kernel. */
  hello: 1,
  /** A client whose upstream is being dialed. Its bytes stay in the kernel. */
  dialing: 2,
  /** An upstream that is being dialed. */
  connecting: 3,
  /** A client or an upstream of a joined pair. */
  joined: 4,
  /** A refused client that has its answer and has not closed yet. */
  refused: 5,
  /** A listening socket. */
  listening: 6,
} as const;

/** Flags of a socket. Several can be set. */
export const FLAG = {
  client: 1,
  /** There may be bytes to read. Set by an event, cleared only when a read returns less than requested. */
  readable: 2,
  /** Epoll has reported its FIN, which may follow bytes that are still unread. */
  finComing: 4,
  /** Its FIN was read, so it sends nothing more. */
  finRead: 8,
  /** Its peer is not read until it accepts more bytes. */
  blocked: 16,
  /** It is in the {@link ReadyQueue}: its turn is over, and it has more to read. */
  queued: 32,
  /** Its bytes go through a pipe. */
  piped: 64,
  /** The upstream receives a preface before the bytes of this client. */
  prefaced: 128,
  /** Epoll has reported its reset, which may follow bytes that are still unread. */
  resetComing: 256,
  /** It is at least a tick old, so keepalive is enabled. */
  hasKeepalive: 512,
  /** Epoll has reported urgent bytes (RFC 6093). Reads stop before them. */
  urgent: 1024,
  /** Its bytes gather in the kernel. See {@link ReadCoalescer}. */
  coalesces: 2048,
  /** The last sweep found bytes to read. Epoll may still report them. */
  readSuspected: 4096,
  /** The last sweep found it writable. Epoll may still report that. */
  writeSuspected: 8192,
} as const;

/** The ids of the {@link WaitingList}s of clients. */
export const LIST = { hello: 1, dial: 2, linger: 3 } as const;

/** The initial capacity. The kernel backs memory only once it is written, so unused capacity costs nothing. */
const FIRST_CAPACITY = 1 << 15;

type Numbers = Uint8Array | Int16Array | Uint16Array | Int32Array | Float64Array;

function grown<T extends Numbers>(numbers: T, capacity: number): T {
  const larger = new (numbers.constructor as new (length: number) => T)(capacity);
  larger.set(numbers);
  return larger;
}

/** The sockets of one engine. */
export class SocketTable {
  /** One more than the highest descriptor used so far. */
  limit = 0;

  stage = new Uint8Array(FIRST_CAPACITY);
  flags = new Uint16Array(FIRST_CAPACITY);
  /** Number of full reads in a row. The relay stops counting once a socket is hot. */
  heat = new Uint8Array(FIRST_CAPACITY);
  /** Number of pieces of bulk in a row that arrived one at a time. Below 0: number of pieces to ignore. */
  pieces = new Int16Array(FIRST_CAPACITY);
  /** The other socket of the pair, or -1. */
  peer = new Int32Array(FIRST_CAPACITY);
  /** Distinguishes the sockets that have had this descriptor. */
  generation = new Int32Array(FIRST_CAPACITY);
  /** The tick of its last event. */
  lastTick = new Int32Array(FIRST_CAPACITY);
  /** The index in the counters for the bytes that it has accepted. */
  bytesAt = new Int32Array(FIRST_CAPACITY);
  /** Number of bytes that it has accepted. */
  bytes = new Float64Array(FIRST_CAPACITY);

  // Clients only.
  slot = new Int32Array(FIRST_CAPACITY);
  row = new Int32Array(FIRST_CAPACITY);
  attempts = new Uint16Array(FIRST_CAPACITY);
  /** Number of first bytes to drop. There are fewer than 64 KiB of them. */
  dropBytes = new Uint16Array(FIRST_CAPACITY);
  /** The order of arrival; wraps around after two billion connections. */
  serial = new Int32Array(FIRST_CAPACITY);
  note = new Float64Array(FIRST_CAPACITY);
  acceptedMs = new Float64Array(FIRST_CAPACITY);
  /** When the current stage began, if it has a timeout. For a joined socket, when its run of pieces began. */
  stageMs = new Float64Array(FIRST_CAPACITY);
  /** The id of its {@link WaitingList}, 0 if none, and its neighbors there. */
  list = new Uint8Array(FIRST_CAPACITY);
  previous = new Int32Array(FIRST_CAPACITY);
  next = new Int32Array(FIRST_CAPACITY);
  /** The remote addresses, in {@link SOCKADDR_WORDS} words each. */
  addresses = new Int32Array(FIRST_CAPACITY * SOCKADDR_WORDS);
  readonly endpoints: (Endpoint | undefined)[] = [];

  /** For listeners and their clients: the index in {@link listenAddresses}. */
  listenAddressIndex = new Uint16Array(FIRST_CAPACITY);
  /** The address that the clients of each listener have dialed. Undefined for a wildcard listener, where it differs. */
  readonly listenAddresses: (SocketAddress | undefined)[] = [];

  #serial = 0;

  /** Adds the client that this listener has just accepted. */
  openClient(fd: number, listener: number, nowMs: number, tick: number): void {
    this.#open(fd, STAGE.hello, FLAG.client, tick);
    this.slot[fd] = -1;
    this.row[fd] = -1;
    this.attempts[fd] = 0;
    this.note[fd] = 0;
    this.serial[fd] = this.#serial = (this.#serial + 1) | 0;
    this.acceptedMs[fd] = nowMs;
    this.stageMs[fd] = nowMs;
    this.endpoints[fd] = undefined;
    this.listenAddressIndex[fd] = this.listenAddressIndex[listener] ?? 0;
    copyAccepted(this.addresses, fd * SOCKADDR_WORDS);
  }

  /** Adds a listening socket. `address` is the address that its clients dial. */
  openListener(fd: number, address: SocketAddress | undefined): void {
    this.#open(fd, STAGE.listening, 0, 0);
    this.listenAddressIndex[fd] = this.listenAddresses.push(address) - 1;
  }

  /** Adds a socket that becomes the upstream of a client. */
  openUpstream(fd: number, client: number, tick: number): void {
    this.#open(fd, STAGE.connecting, 0, tick);
    this.peer[fd] = client;
    this.peer[client] = fd;
  }

  /** Removes a socket, and invalidates its pending events. */
  free(fd: number): void {
    this.stage[fd] = STAGE.free;
    this.flags[fd] = 0;
    this.generation[fd] = (this.generationOf(fd) + 1) | 0;
  }

  has(fd: number, flag: number): boolean {
    return ((this.flags[fd] ?? 0) & flag) !== 0;
  }

  set(fd: number, flags: number): void {
    this.flags[fd] = (this.flags[fd] ?? 0) | flags;
  }

  clear(fd: number, flags: number): void {
    this.flags[fd] = (this.flags[fd] ?? 0) & ~flags;
  }

  stageOf(fd: number): number {
    return this.stage[fd] ?? STAGE.free;
  }

  peerOf(fd: number): number {
    return this.peer[fd] ?? -1;
  }

  generationOf(fd: number): number {
    return this.generation[fd] ?? 0;
  }

  /** Returns the address that a client has dialed, if it is known without a system call. */
  listenAddressOf(client: number): SocketAddress | undefined {
    return this.listenAddresses[this.listenAddressIndex[client] ?? 0];
  }

  /** Returns the client of the connection that this socket belongs to. */
  clientOf(fd: number): number {
    return this.has(fd, FLAG.client) ? fd : this.peerOf(fd);
  }

  #open(fd: number, stage: number, flags: number, tick: number): void {
    if (fd >= this.stage.length) this.#grow(fd);
    if (fd >= this.limit) this.limit = fd + 1;
    this.stage[fd] = stage;
    this.flags[fd] = flags;
    this.heat[fd] = 0;
    this.pieces[fd] = 0;
    this.peer[fd] = -1;
    this.generation[fd] = (this.generationOf(fd) + 1) | 0;
    this.lastTick[fd] = tick;
    this.bytesAt[fd] = -1;
    this.bytes[fd] = 0;
  }

  #grow(fd: number): void {
    let capacity = this.stage.length;
    while (capacity <= fd) capacity *= 2;
    this.stage = grown(this.stage, capacity);
    this.flags = grown(this.flags, capacity);
    this.heat = grown(this.heat, capacity);
    this.pieces = grown(this.pieces, capacity);
    this.peer = grown(this.peer, capacity);
    this.generation = grown(this.generation, capacity);
    this.lastTick = grown(this.lastTick, capacity);
    this.bytesAt = grown(this.bytesAt, capacity);
    this.bytes = grown(this.bytes, capacity);
    this.slot = grown(this.slot, capacity);
    this.row = grown(this.row, capacity);
    this.attempts = grown(this.attempts, capacity);
    this.dropBytes = grown(this.dropBytes, capacity);
    this.serial = grown(this.serial, capacity);
    this.note = grown(this.note, capacity);
    this.acceptedMs = grown(this.acceptedMs, capacity);
    this.stageMs = grown(this.stageMs, capacity);
    this.list = grown(this.list, capacity);
    this.previous = grown(this.previous, capacity);
    this.next = grown(this.next, capacity);
    this.addresses = grown(this.addresses, capacity * SOCKADDR_WORDS);
    this.listenAddressIndex = grown(this.listenAddressIndex, capacity);
  }
}
