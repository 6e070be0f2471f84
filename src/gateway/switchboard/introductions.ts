/**
 * What comes before the hello: the PROXY header of a load balancer, and the signed one of a worker's proxy. Says which
 * there are, and whether they may be there.
 */
import type { Caller } from '../../engine/engine.ts';
import type { ProxyRefusal } from '../../wire/outcome.ts';
import { ProxyHeaderStack } from '../../wire/proxy-header-stack.ts';
import {
  PROXY_FIRST_BYTE,
  VERSION_1_FIRST_BYTE,
  type ProxyHeader,
} from '../../wire/proxy-header.ts';
import { NetworkSet } from '../routes/networks.ts';
import type { ProxyProtocol } from './trusted-sources.ts';

/** Why nothing after the headers is looked at. */
export type IntroductionRefusal =
  | ProxyRefusal
  | 'proxy_header_missing'
  | 'proxy_header_not_allowed';

/** A reader for one thread; what it says holds until the next read. */
export class Introductions {
  /** The header by which a worker's proxy speaks for a tenant, and whether somebody has verified it. */
  tenantHeader: ProxyHeader | undefined;
  isVerified = false;

  readonly #proxyProtocol: ProxyProtocol;
  readonly #trusted: NetworkSet | undefined;
  readonly #one = new ProxyHeaderStack({ depth: 1 });
  readonly #two = new ProxyHeaderStack({ depth: 2 });
  #balancerHeader: ProxyHeader | undefined;

  constructor(proxyProtocol: ProxyProtocol) {
    this.#proxyProtocol = proxyProtocol;
    const isList = proxyProtocol !== 'nobody' && proxyProtocol !== 'everybody';
    this.#trusted = isList ? new NetworkSet(proxyProtocol) : undefined;
  }

  /** Whether a load balancer has this address, by whose clients a header is wanted. */
  isBalancer(address: string): boolean {
    return this.#trusted?.has(address) ?? this.#proxyProtocol === 'everybody';
  }

  /** Where the hello starts. */
  read(bytes: Buffer, length: number, caller: Caller): number | 'incomplete' | IntroductionRefusal {
    this.tenantHeader = undefined;
    this.isVerified = false;
    this.#balancerHeader = undefined;
    // Nearly all connections of nearly all gateways: a hello and nothing before it.
    const first = bytes[0];
    const beginsNone = first !== PROXY_FIRST_BYTE && first !== VERSION_1_FIRST_BYTE;
    if (beginsNone && this.#proxyProtocol === 'nobody') return 0;

    const isBalancer = this.isBalancer(caller.remoteAddress);
    const stack = isBalancer ? this.#two : this.#one;
    const outcome = stack.read(bytes, length);
    if (outcome !== 'headers') return outcome;
    this.#balancerHeader = isBalancer ? stack.at(0) : undefined;
    this.tenantHeader = stack.at(isBalancer ? 1 : 0);
    // A header of a worker's proxy cannot stand in for that of the load balancer.
    const isMissing = this.#balancerHeader === undefined || this.#balancerHeader.stampStart >= 0;
    if (isBalancer && isMissing) return 'proxy_header_missing';
    const isUnsigned = this.tenantHeader !== undefined && this.tenantHeader.stampStart < 0;
    return isUnsigned ? 'proxy_header_not_allowed' : stack.end;
  }

  /** The address that a connection comes from: as a load balancer says, or else that of the peer. */
  sourceOf(caller: Caller): string {
    return this.#balancerHeader?.addresses()?.source.address ?? caller.remoteAddress;
  }

  /** Whom the headers that are believed speak of, the innermost of them; nothing if there is none. For logs. */
  client(): { readonly address: string; readonly port: number } | undefined {
    const believed = this.isVerified
      ? (this.tenantHeader ?? this.#balancerHeader)
      : this.#balancerHeader;
    return believed?.addresses()?.source;
  }
}
