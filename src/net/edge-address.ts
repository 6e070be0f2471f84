/** The address of an edge, as written in flags: a DNS name or an IP address, and a port. */
import { isIPv4, isIPv6 } from '../wire/ip-address.ts';

/** The host and port of an edge. */
export interface EdgeAddress {
  /** A DNS name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})?(\.[a-z0-9_]([a-z0-9_-]{0,62})?)*\.?$/i;

/**
 * Parses `edge.example.com:443`, `203.0.113.10:443` or `[2001:db8::10]:443`.
 *
 * @throws TypeError with a message for the user.
 */
export function parseEdgeAddress(text: string): EdgeAddress {
  const colon = text.lastIndexOf(':');
  const digits = text.slice(colon + 1);
  const port = colon < 0 || !/^\d{1,5}$/.test(digits) ? 0 : Number(digits);
  if (port < 1 || port > 65_535) {
    throw new TypeError(
      `'${text}' has no port from 1 to 65535 at its end; write edge.example.com:443 or [2001:db8::10]:443`,
    );
  }
  const host = text.slice(0, colon);
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : undefined;
  if (bare !== undefined && isIPv6(bare)) return { host: bare, port };
  if (isIPv6(host)) throw new TypeError(`'${text}' needs brackets; write [${host}]:${port}`);
  // Digits and dots that are not a valid address are a typo, not a DNS name.
  const isName = NAME.test(host) && !/^[\d.]+$/.test(host);
  if (isIPv4(host) || isName) return { host, port };
  throw new TypeError(
    `'${host}' in '${text}' is neither a DNS name nor an IP address; write edge.example.com:443`,
  );
}

/** Formats an address so that {@link parseEdgeAddress} can parse it. */
export function formatEdgeAddress({ host, port }: EdgeAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
