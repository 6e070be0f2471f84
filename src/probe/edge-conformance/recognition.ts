/**
 * Determines the owner of a certificate presented through the edge: the host, another host, or no tenant.
 */
import type { X509Certificate } from 'node:crypto';
import { pathTo, type PresentedChain } from '../tls/authorities.ts';
import type { Handshake } from '../tls/handshake.ts';
import { isOfApiServer } from '../tls/owner.ts';
import { certificateText } from '../tls/validity.ts';

/** The owner of a certificate. */
export type CertificateOwner =
  /** The server of this host. */
  | { readonly kind: 'own' }
  /** The server of another host. */
  | { readonly kind: 'otherHost'; readonly host: string }
  /** A tenant, but the certificate has the name of no host. */
  | { readonly kind: 'unnamed' }
  /** An API server by its names, with an unknown CA. */
  | { readonly kind: 'unknownAuthority' }
  /** Neither a tenant nor an API server: the edge itself. */
  | { readonly kind: 'edge' };

/** Knows the certificates of the hosts. */
export class Recognition {
  readonly #hosts: readonly string[];
  readonly #authorities: readonly X509Certificate[];
  /** Keys and issuers of the certificates of served hosts. */
  readonly #keys = new Set<string>();
  readonly #issuers = new Set<string>();

  /** Without CAs, a certificate in a plain handshake counts as the tenant's if it has the name of the host. */
  constructor(hosts: readonly string[], authorities: readonly X509Certificate[]) {
    this.#hosts = hosts;
    this.#authorities = authorities;
  }

  /** Whether the owner of a certificate can be proven. */
  get hasAuthorities(): boolean {
    return this.#authorities.length > 0;
  }

  /** Remembers the certificate of a served host. */
  learn([leaf]: PresentedChain): void {
    this.#keys.add(keyOf(leaf));
    this.#issuers.add(leaf.issuer);
  }

  /** Returns the owner of a certificate from a plain handshake with a host. */
  ownerInPlainHandshake(host: string, presented: PresentedChain): CertificateOwner {
    return this.#determine(host, presented, this.#isSigned(presented) ?? true);
  }

  /** Returns the owner of a certificate from another handshake with a host, once all served hosts are known. */
  ownerOf(host: string, presented: PresentedChain): CertificateOwner {
    return this.#determine(host, presented, this.#isTenants(presented));
  }

  /** Reports whether a certificate belongs to a control plane, known or unknown. */
  isControlPlanes(presented: PresentedChain): boolean {
    return this.#isTenants(presented) || isOfApiServer(presented[0]);
  }

  /** Several API servers of one tenant have different keys, but the same CA. */
  #isTenants(presented: PresentedChain): boolean {
    const [leaf] = presented;
    return (
      this.#isSigned(presented) ?? (this.#keys.has(keyOf(leaf)) || this.#issuers.has(leaf.issuer))
    );
  }

  #isSigned(presented: PresentedChain): boolean | undefined {
    return this.hasAuthorities ? pathTo(this.#authorities, presented) !== undefined : undefined;
  }

  #determine(host: string, [leaf]: PresentedChain, isTenants: boolean): CertificateOwner {
    if (!isTenants) return { kind: isOfApiServer(leaf) ? 'unknownAuthority' : 'edge' };
    if (hasName(leaf, host)) return { kind: 'own' };
    const other = this.#hosts.find((candidate) => hasName(leaf, candidate));
    if (other !== undefined) return { kind: 'otherHost', host: other };
    return { kind: this.hasAuthorities || isOfApiServer(leaf) ? 'unnamed' : 'edge' };
  }
}

/** Returns the public key, which certificates with the same key share. */
export function keyOf({ publicKey }: X509Certificate): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Returns the outcome of a handshake as a clause that follows the address of the edge. */
export function handshakeText(handshake: Handshake, timeoutMs: number): string {
  switch (handshake.kind) {
    case 'secured':
      return `presented ${certificateText(handshake.presented[0])}`;
    case 'alert':
      return `sent the TLS alert ${handshake.alert}`;
    case 'closed':
      return `closed the connection during the handshake (${handshake.code})`;
    case 'notTls':
      return 'did not answer in TLS';
    case 'malformed':
      return `broke the TLS handshake (${handshake.code})`;
    case 'timeout':
      return `did not complete the TLS handshake within ${timeoutMs} ms`;
  }
}

/** Checks only alternative names, as every client of Kubernetes does. */
function hasName(leaf: X509Certificate, host: string): boolean {
  return leaf.checkHost(host, { subject: 'never' }) !== undefined;
}
