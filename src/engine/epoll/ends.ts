/**
 * What is known of every socket, in typed arrays by file descriptor: no object per connection, nothing for the garbage
 * collector, and little more than 100 bytes for a socket at rest.
 *
 * A connection has two ends: the client's, which is also its name here, and the upstream's.
 */
import type { Endpoint } from '../endpoint.ts';
import { SOCKADDR_WORDS, type SocketEnd } from '../../system/socket-address.ts';
import { copyAccepted } from './socket.ts';

/** Where an end is in its life. */
export const STAGE = {
  free: 0,
  /** A client whose first bytes are looked at. They stay in the kernel. */
  hello: 1,
  /** A client whose upstream is being dialled. Its bytes stay in the kernel. */
  dialling: 2,
  /** An upstream that is being dialled. */
  connecting: 3,
  /** Either, with bytes going both ways. */
  joined: 4,
  /** A client that has its answer, until it leaves. */
  refused: 5,
  /** No end of a connection, but where clients come from. */
  listening: 6,
} as const;

/** What is true of an end. Several can be. */
export const FLAG = {
  client: 1,
  /** There may be something to read: set by an event, cleared only by reading less than was asked for. */
  readable: 2,
  /** Epoll has told of its FIN, which may be behind bytes yet to be read. */
  finComing: 4,
  /** Its FIN was read: it will say no more. */
  finRead: 8,
  /** Bytes wait until it takes more; so its peer is not read. */
  blocked: 16,
  /** In the queue of those who had their turn and have more to say. */
  queued: 32,
  /** Its bytes go through a pipe. */
  piped: 64,
  /** The upstream is to get a preface before the bytes of this client. */
  prefaced: 128,
  /** Epoll has told of its reset, which may be behind bytes yet to be read. */
  resetComing: 256,
  /** It has lived long enough to be worth the calls that set its keepalive. */
  settled: 512,
  /** Epoll has told of urgent bytes (RFC 6093): reads stop short of them. */
  urgent: 1024,
  /** Its bytes are left to gather: see {@link Gatherer}. */
  gathers: 2048,
  /** The last sweep found something to read, which epoll may report any moment. */
  readSuspected: 4096,
  /** The last sweep found room to write, which epoll may report any moment. */
  writeSuspected: 8192,
} as const;

/** What a client may wait for: see {@link WaitingList}. */
export const LIST = { hello: 1, dial: 2, leave: 3 } as const;

/** Memory that is not written to is not there: room for so many costs nothing until they come. */
const FIRST_CAPACITY = 1 << 15;

type Numbers = Uint8Array | Int16Array | Uint16Array | Int32Array | Float64Array;

function grown<T extends Numbers>(numbers: T, capacity: number): T {
  const more = new (numbers.constructor as new (length: number) => T)(capacity);
  more.set(numbers);
  return more;
}

/** The ends of all connections of one engine. */
export class Ends {
  /** One more than the highest descriptor that ever was an end. */
  limit = 0;

  stage = new Uint8Array(FIRST_CAPACITY);
  flags = new Uint16Array(FIRST_CAPACITY);
  /** How many full reads in a row there were, as far as the relay counts. */
  heat = new Uint8Array(FIRST_CAPACITY);
  /** How many pieces of bulk in a row it has brought, one at a time; below 0, how many do not count. */
  pieces = new Int16Array(FIRST_CAPACITY);
  /** The other end; -1 if there is none. */
  peer = new Int32Array(FIRST_CAPACITY);
  /** Tells the sockets apart that have had this descriptor. */
  generation = new Int32Array(FIRST_CAPACITY);
  /** The tick of its last event. */
  lastTick = new Int32Array(FIRST_CAPACITY);
  /** Where in the counters the bytes are added that it took. */
  bytesAt = new Int32Array(FIRST_CAPACITY);
  /** How many it took. */
  bytes = new Float64Array(FIRST_CAPACITY);

  // Of clients only.
  slot = new Int32Array(FIRST_CAPACITY);
  row = new Int32Array(FIRST_CAPACITY);
  attempts = new Uint16Array(FIRST_CAPACITY);
  /** Of the first bytes, which are fewer than 64 KiB. */
  dropBytes = new Uint16Array(FIRST_CAPACITY);
  /** The order of arrival; wraps around after two billion connections. */
  serial = new Int32Array(FIRST_CAPACITY);
  note = new Float64Array(FIRST_CAPACITY);
  acceptedMs = new Float64Array(FIRST_CAPACITY);
  /** When its present stage began, where a stage has a time limit; of any joined end, when its run of pieces did. */
  stageMs = new Float64Array(FIRST_CAPACITY);
  /** On which {@link WaitingList} it is, 0 if on none, and between whom. */
  list = new Uint8Array(FIRST_CAPACITY);
  before = new Int32Array(FIRST_CAPACITY);
  behind = new Int32Array(FIRST_CAPACITY);
  /** Of the client itself, each in {@link SOCKADDR_WORDS}. */
  addresses = new Int32Array(FIRST_CAPACITY * SOCKADDR_WORDS);
  readonly endpoints: (Endpoint | undefined)[] = [];

  /** Of listeners and their clients: which of {@link entrances}. */
  entrance = new Uint16Array(FIRST_CAPACITY);
  /** What the clients of each listener have dialled; undefined where that is not the same for all. */
  readonly entrances: (SocketEnd | undefined)[] = [];

  #serial = 0;

  /** Takes in the client that this listener has just accepted. */
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
    this.entrance[fd] = this.entrance[listener] ?? 0;
    copyAccepted(this.addresses, fd * SOCKADDR_WORDS);
  }

  /** Takes in a socket that listens, to where its clients have dialled. */
  openListener(fd: number, entrance: SocketEnd | undefined): void {
    this.#open(fd, STAGE.listening, 0, 0);
    this.entrance[fd] = this.entrances.push(entrance) - 1;
  }

  /** Takes in a socket that is to become the upstream of a client. */
  openUpstream(fd: number, client: number, tick: number): void {
    this.#open(fd, STAGE.connecting, 0, tick);
    this.peer[fd] = client;
    this.peer[client] = fd;
  }

  /** Forgets an end, and with it every event that is still under way for it. */
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

  /** What a client has dialled, if that can be told without asking its socket. */
  entranceOf(client: number): SocketEnd | undefined {
    return this.entrances[this.entrance[client] ?? 0];
  }

  /** The client of the connection that this end belongs to. */
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
    this.before = grown(this.before, capacity);
    this.behind = grown(this.behind, capacity);
    this.addresses = grown(this.addresses, capacity * SOCKADDR_WORDS);
    this.entrance = grown(this.entrance, capacity);
  }
}
