/**
 * Whose certificate it is that a handshake through the edge brought: that of the host, of another host, or of no tenant.
 */
import type { X509Certificate } from 'node:crypto';
import { pathTo, type PresentedChain } from '../tls/authorities.ts';
import type { Handshake } from '../tls/handshake.ts';
import { isOfApiServer } from '../tls/owner.ts';
import { certificateText } from '../tls/validity.ts';

/** Whose it is. */
export type Whose =
  /** Of whatever serves this host. */
  | { readonly kind: 'own' }
  /** Of whatever serves another of the hosts. */
  | { readonly kind: 'otherHost'; readonly host: string }
  /** Of a tenant, but with the name of no host. */
  | { readonly kind: 'unnamed' }
  /** Of an API server by its names, of a CA that was not given. */
  | { readonly kind: 'unknownAuthority' }
  /** Neither of a tenant nor of an API server: the edge itself. */
  | { readonly kind: 'stranger' };

/** What is known of the hosts. */
export class Recognition {
  readonly #hosts: readonly string[];
  readonly #authorities: readonly X509Certificate[];
  /** Keys and issuers of the certificates that answered for the hosts in the plainest way. */
  readonly #keys = new Set<string>();
  readonly #issuers = new Set<string>();

  /** Without authorities, what answers a plain hello is taken for the tenant's if it has the name. */
  constructor(hosts: readonly string[], authorities: readonly X509Certificate[]) {
    this.#hosts = hosts;
    this.#authorities = authorities;
  }

  /** Whether it can be proven whose a certificate is. */
  get hasAuthorities(): boolean {
    return this.#authorities.length > 0;
  }

  /** Remembers what answered for a host that is served. */
  learn([leaf]: PresentedChain): void {
    this.#keys.add(keyOf(leaf));
    this.#issuers.add(leaf.issuer);
  }

  /** Judges what answers a plain hello for a host. */
  whoseAtFirst(host: string, presented: PresentedChain): Whose {
    return this.#whose(host, presented, this.#isSigned(presented) ?? true);
  }

  /** Judges what answers another hello for a host, once all hosts are known. */
  whose(host: string, presented: PresentedChain): Whose {
    return this.#whose(host, presented, this.#isTenants(presented));
  }

  /** Whether it is that of a control plane, known here or not. */
  isControlPlanes(presented: PresentedChain): boolean {
    return this.#isTenants(presented) || isOfApiServer(presented[0]);
  }

  /** Several API servers of one tenant have several keys, and one CA. */
  #isTenants(presented: PresentedChain): boolean {
    const [leaf] = presented;
    return (
      this.#isSigned(presented) ?? (this.#keys.has(keyOf(leaf)) || this.#issuers.has(leaf.issuer))
    );
  }

  #isSigned(presented: PresentedChain): boolean | undefined {
    return this.hasAuthorities ? pathTo(this.#authorities, presented) !== undefined : undefined;
  }

  #whose(host: string, [leaf]: PresentedChain, isTenants: boolean): Whose {
    if (!isTenants) return { kind: isOfApiServer(leaf) ? 'unknownAuthority' : 'stranger' };
    if (hasName(leaf, host)) return { kind: 'own' };
    const other = this.#hosts.find((candidate) => hasName(leaf, candidate));
    if (other !== undefined) return { kind: 'otherHost', host: other };
    return { kind: this.hasAuthorities || isOfApiServer(leaf) ? 'unnamed' : 'stranger' };
  }
}

/** The same for two certificates with one key, whatever else differs. */
export function keyOf({ publicKey }: X509Certificate): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** What came of a handshake, as a clause behind the address of the edge. */
export function handshakeText(handshake: Handshake, timeoutMs: number): string {
  switch (handshake.kind) {
    case 'secured':
      return `answered with ${certificateText(handshake.presented[0])}`;
    case 'alert':
      return `answered with the TLS alert ${handshake.alert}`;
    case 'closed':
      return `hung up during the handshake (${handshake.code})`;
    case 'notTls':
      return 'did not answer in TLS';
    case 'malformed':
      return `broke the handshake (${handshake.code})`;
    case 'timeout':
      return `did not complete the handshake in ${timeoutMs} ms`;
  }
}

/** Alternative names only, as every client of Kubernetes does it. */
function hasName(leaf: X509Certificate, host: string): boolean {
  return leaf.checkHost(host, { subject: 'never' }) !== undefined;
}
