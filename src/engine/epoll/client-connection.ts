/**
 * The client of a connection as the router sees it. One object serves all connections: the engine points it at one
 * after the other.
 */
import type { AddressPair } from '../../wire/address-pair.ts';
import type { ClientConnection } from '../engine.ts';
import {
  readAddress,
  readSocketAddress,
  readPort,
  SOCKADDR_BYTES,
} from '../../system/socket-address.ts';
import type { SocketTable } from './socket-table.ts';
import { localAddressOf } from './socket.ts';

/** The current client. */
export class EpollClientConnection implements ClientConnection {
  readonly #sockets: SocketTable;
  #client = -1;

  constructor(sockets: SocketTable) {
    this.#sockets = sockets;
  }

  /** Points this object at a client. */
  at(client: number): this {
    this.#client = client;
    return this;
  }

  get note(): number {
    return this.#sockets.note[this.#client] ?? 0;
  }
  set note(note: number) {
    this.#sockets.note[this.#client] = note;
  }

  get remoteAddress(): string {
    return readAddress(this.#addresses, this.#client * SOCKADDR_BYTES);
  }
  get remotePort(): number {
    return readPort(this.#addresses, this.#client * SOCKADDR_BYTES);
  }
  get addresses(): AddressPair {
    const remote = readSocketAddress(this.#addresses, this.#client * SOCKADDR_BYTES);
    const local = this.#sockets.listenAddressOf(this.#client) ?? localAddressOf(this.#client);
    return {
      family: remote.address.length === 4 ? 'ipv4' : 'ipv6',
      source: remote.address,
      sourcePort: remote.port,
      destination: local.address,
      destinationPort: local.port,
    };
  }

  get #addresses(): Buffer {
    return Buffer.from(this.#sockets.addresses.buffer);
  }
}
