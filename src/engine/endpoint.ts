/**
 * Where to dial: an address and a port, never a name. Names are resolved by whoever makes endpoints.
 */
import { isIPv4, isIPv6 } from '../wire/ip-address.ts';

/** One place to dial. Made once per route and shared by all its connections, so engines may keep things by identity. */
export class Endpoint {
  readonly address: string;
  readonly port: number;
  readonly family: 'ipv4' | 'ipv6';

  /** @throws TypeError if the address is a name, or the port none. */
  constructor(address: string, port: number) {
    if (!isIPv4(address) && !isIPv6(address)) {
      throw new TypeError(`'${address}' is not an IP address; resolve names first`);
    }
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new TypeError(`${port} is not a port; it has to be from 1 to 65535`);
    }
    this.address = address;
    this.port = port;
    this.family = isIPv4(address) ? 'ipv4' : 'ipv6';
  }

  /** As in a URL: `10.0.0.5:6443`, `[fd00::5]:6443`. */
  toString(): string {
    return this.family === 'ipv4'
      ? `${this.address}:${this.port}`
      : `[${this.address}]:${this.port}`;
  }
}
