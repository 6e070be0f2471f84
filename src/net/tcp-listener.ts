/**
 * Plain TCP listeners of Bun, with the options that its types lack.
 */
import type { SocketHandler, TCPSocketListener, TCPSocketListenOptions } from 'bun';
import type { ListenOptions } from './listen-address.ts';
import { ipVersion } from '../wire/ip-address.ts';

/** Bun's types declare these two options for Bun.connect only. */
interface BunListenOptions<Data> extends TCPSocketListenOptions<Data> {
  readonly reusePort: boolean;
  readonly ipv6Only: boolean;
}

/** Opens a listener. @throws TypeError if the address is invalid, or the error of the system, with its `code`. */
export function listenTcp<Data>(
  { address, port, reusePort = false }: ListenOptions,
  socket: SocketHandler<Data>,
): TCPSocketListener<Data> {
  if (ipVersion(address) === 0)
    throw new TypeError(`'${address}' is not an IP address to listen on`);
  const options: BunListenOptions<Data> = {
    hostname: address,
    port,
    reusePort,
    socket,
    ipv6Only: ipVersion(address) === 6,
    allowHalfOpen: true,
  };
  return Bun.listen<Data>(options);
}

/** Returns the file descriptor of a socket, or -1 on platforms without one, which is below every limit. */
export function descriptorOf(socket: object & { readonly fd?: number }): number {
  return socket.fd ?? -1;
}
