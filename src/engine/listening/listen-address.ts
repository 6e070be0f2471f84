/**
 * Where to listen, as a person writes it.
 */
import { isIPv4, isIPv6 } from '../../wire/ip-address.ts';

/** One address to listen on. */
export interface ListenAddress {
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
}

/**
 * `10.0.0.1:443` and `[::]:443` are one address each; `:443` is every address, of IPv4 and of IPv6.
 *
 * @throws TypeError with a sentence for the user.
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
  throw new TypeError(`'${host}' in '${text}' is not an IP address; names are not looked up here`);
}

function parsePort(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port > 65_535 ? undefined : port;
}

/** As a person would write it, and as {@link parseListenAddress} reads it. */
export function formatListenAddress({ address, port }: ListenAddress): string {
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}
