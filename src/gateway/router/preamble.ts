/**
 * Reads the PROXY headers before the hello: the header of a load balancer, and the signed header of a worker's proxy.
 * Reports which headers are present and whether they are allowed.
 */
import type { ClientConnection } from '../../engine/engine.ts';
import type { ProxyRefusal } from '../../wire/outcome.ts';
import { ProxyHeaderStack } from '../../wire/proxy-header-stack.ts';
import {
  PROXY_FIRST_BYTE,
  VERSION_1_FIRST_BYTE,
  type ProxyHeader,
} from '../../wire/proxy-header.ts';
import { NetworkSet } from '../routes/networks.ts';
import type { ProxyProtocol } from './trusted-sources.ts';

/** Why a connection is refused because of its headers. */
export type PreambleRefusal = ProxyRefusal | 'proxy_header_missing' | 'proxy_header_not_allowed';

/** Reads the preamble for one thread. The results are valid until the next read. */
export class Preamble {
  /** The signed header of a worker's proxy, and whether the router has verified it. */
  tenantHeader: ProxyHeader | undefined;
  isVerified = false;

  readonly #proxyProtocol: ProxyProtocol;
  readonly #trusted: NetworkSet | undefined;
  readonly #oneHeader = new ProxyHeaderStack({ depth: 1 });
  readonly #twoHeaders = new ProxyHeaderStack({ depth: 2 });
  #balancerHeader: ProxyHeader | undefined;

  constructor(proxyProtocol: ProxyProtocol) {
    this.#proxyProtocol = proxyProtocol;
    const isList = proxyProtocol !== 'none' && proxyProtocol !== 'all';
    this.#trusted = isList ? new NetworkSet(proxyProtocol) : undefined;
  }

  /** Whether the address belongs to a load balancer, whose connections must begin with a PROXY header. */
  isBalancer(address: string): boolean {
    return this.#trusted?.has(address) ?? this.#proxyProtocol === 'all';
  }

  /** Reads the headers and returns the offset of the hello. */
  read(
    bytes: Buffer,
    length: number,
    connection: ClientConnection,
  ): number | 'incomplete' | PreambleRefusal {
    this.tenantHeader = undefined;
    this.isVerified = false;
    this.#balancerHeader = undefined;
    // Fast path for most connections: a hello without any header.
    const first = bytes[0];
    const hasNoHeader = first !== PROXY_FIRST_BYTE && first !== VERSION_1_FIRST_BYTE;
    if (hasNoHeader && this.#proxyProtocol === 'none') return 0;

    const isBalancer = this.isBalancer(connection.remoteAddress);
    const stack = isBalancer ? this.#twoHeaders : this.#oneHeader;
    const outcome = stack.read(bytes, length);
    if (outcome !== 'headers') return outcome;
    this.#balancerHeader = isBalancer ? stack.at(0) : undefined;
    this.tenantHeader = stack.at(isBalancer ? 1 : 0);
    // A signed header in first place is that of a worker's proxy, so the load balancer's header is missing.
    const isMissing = this.#balancerHeader === undefined || this.#balancerHeader.stampStart >= 0;
    if (isBalancer && isMissing) return 'proxy_header_missing';
    const isUnsigned = this.tenantHeader !== undefined && this.tenantHeader.stampStart < 0;
    return isUnsigned ? 'proxy_header_not_allowed' : stack.end;
  }

  /** Returns the address of the client: from the load balancer's header, or else the peer address. */
  sourceOf(connection: ClientConnection): string {
    return this.#balancerHeader?.addresses()?.source.address ?? connection.remoteAddress;
  }

  /** Returns the client of the innermost trusted header, for logs. Undefined if there is no trusted header. */
  client(): { readonly address: string; readonly port: number } | undefined {
    const trusted = this.isVerified
      ? (this.tenantHeader ?? this.#balancerHeader)
      : this.#balancerHeader;
    return trusted?.addresses()?.source;
  }
}
