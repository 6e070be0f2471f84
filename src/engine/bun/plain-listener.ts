/**
 * A listening socket for connections in the clear, and what Bun's types do not say about one.
 */
import type { SocketHandler, TCPSocketListener, TCPSocketListenOptions } from 'bun';
import type { ListenOptions } from '../engine.ts';
import { ipVersion } from '../../wire/ip-address.ts';

/** Bun's types have these two for Bun.connect only. */
interface BunListenOptions<Data> extends TCPSocketListenOptions<Data> {
  readonly reusePort: boolean;
  readonly ipv6Only: boolean;
}

/** Listens. @throws TypeError if the address is none, and the system's error, with its `code`. */
export function listenPlain<Data>(
  { address, port, reusePort = false }: ListenOptions,
  socket: SocketHandler<Data>,
): TCPSocketListener<Data> {
  if (ipVersion(address) === 0)
    throw new TypeError(`'${address}' is not an IP address to listen on`);
  const options: BunListenOptions<Data> = {
    ...{ hostname: address, port, reusePort, socket },
    ipv6Only: ipVersion(address) === 6,
    allowHalfOpen: true,
  };
  return Bun.listen<Data>(options);
}

/** The number of a socket. Not every platform has one: then it is -1, which is below every limit. */
export function descriptorOf(socket: object & { readonly fd?: number }): number {
  return socket.fd ?? -1;
}
