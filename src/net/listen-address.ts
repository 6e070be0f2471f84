/**
 * Addresses to listen on, as written in flags: `10.0.0.1:443`, `[::]:443`, `:443`.
 */
import { isIPv4, isIPv6 } from '../wire/ip-address.ts';

/** An IP address and a port to listen on. */
export interface ListenAddress {
  readonly address: string;
  /** 0 lets the kernel choose a free port. */
  readonly port: number;
}

/** Options of one listening socket. An IPv6 address accepts no IPv4 connections: listen on `0.0.0.0` and `::` for both. */
export interface ListenOptions extends ListenAddress {
  /** Whether other sockets with the same option may share the port (SO_REUSEPORT), such as those of other threads. Default false. */
  readonly reusePort?: boolean;
}

/**
 * Parses `10.0.0.1:443` and `[::]:443` into one address each, and `:443` into the wildcard addresses of IPv4 and IPv6.
 *
 * @throws TypeError with a message for the user.
 */
export function parseListenAddress(text: string): readonly ListenAddress[] {
  const colon = text.lastIndexOf(':');
  const port = colon < 0 ? undefined : parsePort(text.slice(colon + 1));
  if (port === undefined) {
    throw new TypeError(
      `'${text}' has no port from 0 to 65535 at its end; write 10.0.0.1:443, [::]:443, or :443 for every address`,
    );
  }
  const host = text.slice(0, colon);
  if (host === '') {
    return [
      { address: '0.0.0.0', port },
      { address: '::', port },
    ];
  }
  if (isIPv4(host)) return [{ address: host, port }];
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : undefined;
  if (bare !== undefined && isIPv6(bare)) return [{ address: bare, port }];
  if (isIPv6(host)) throw new TypeError(`'${text}' needs brackets; write [${host}]:${port}`);
  throw new TypeError(`'${host}' in '${text}' is not an IP address; host names are not allowed`);
}

function parsePort(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port > 65_535 ? undefined : port;
}

/** Formats an address so that {@link parseListenAddress} can parse it. */
export function formatListenAddress({ address, port }: ListenAddress): string {
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}
