/**
 * The client of a connection as the switchboard sees it: one object for all of them, pointed at one after the other.
 */
import type { Caller } from '../engine.ts';
import { readAddress, readPort, SOCKADDR_BYTES } from './address.ts';
import type { Ends } from './ends.ts';
import { localEnd } from './socket.ts';

/** The client that is being talked about. */
export class EpollCaller implements Caller {
  readonly #ends: Ends;
  #client = -1;
  #local: { readonly address: string; readonly port: number } | undefined;

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  /** Talks about this client from now on. */
  at(client: number): this {
    this.#client = client;
    this.#local = undefined;
    return this;
  }

  get note(): number {
    return this.#ends.note[this.#client] ?? 0;
  }
  set note(note: number) {
    this.#ends.note[this.#client] = note;
  }

  get remoteAddress(): string {
    return readAddress(this.#addresses, this.#client * SOCKADDR_BYTES);
  }
  get remotePort(): number {
    return readPort(this.#addresses, this.#client * SOCKADDR_BYTES);
  }
  get localAddress(): string {
    return (this.#local ??= localEnd(this.#client)).address;
  }
  get localPort(): number {
    return (this.#local ??= localEnd(this.#client)).port;
  }

  get #addresses(): Buffer {
    return Buffer.from(this.#ends.addresses.buffer);
  }
}
