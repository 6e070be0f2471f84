/**
 * An address and a port to dial, never a name. The code that creates endpoints resolves names.
 */
import { isIPv4, isIPv6 } from '../wire/ip-address.ts';

/**
 * An address to dial. A route creates it once and all its connections share it, so engines may cache data by identity.
 */
export class Endpoint {
  readonly address: string;
  readonly port: number;
  readonly family: 'ipv4' | 'ipv6';

  /** @throws TypeError if the address is not an IP address, or the port is not from 1 to 65535. */
  constructor(address: string, port: number) {
    if (!isIPv4(address) && !isIPv6(address)) {
      throw new TypeError(`'${address}' is not an IP address; resolve names first`);
    }
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new TypeError(`${port} is not a valid port; it must be from 1 to 65535`);
    }
    this.address = address;
    this.port = port;
    this.family = isIPv4(address) ? 'ipv4' : 'ipv6';
  }

  /** Formats the endpoint as in a URL: `10.0.0.5:6443`, `[fd00::5]:6443`. */
  toString(): string {
    return this.family === 'ipv4'
      ? `${this.address}:${this.port}`
      : `[${this.address}]:${this.port}`;
  }
}
