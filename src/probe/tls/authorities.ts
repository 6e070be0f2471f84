/**
 * Whose certificate it is: the way from a leaf to a certificate authority that is known.
 *
 * TLS would say only whether it verifies, and of an expired certificate only that it has expired, whoever signed it.
 */
import { X509Certificate } from 'node:crypto';
import { certificateBlocks } from '../../wire/pem.ts';

/** The leaf first, then whoever signed the one before; the last is an authority that is known. */
export type CertificatePath = readonly [leaf: X509Certificate, ...signers: X509Certificate[]];

/** What a peer presents in its handshake, the leaf first. */
export type PresentedChain = CertificatePath;

/** The longest way that is looked at; a real one has three or four steps. */
const MAX_STEPS = 8;

/**
 * The certificates of a tenant's CA: one, or several while it changes.
 *
 * @throws TypeError if there is none, or one cannot be read.
 */
export function parseAuthorities(pem: string): readonly X509Certificate[] {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) throw new TypeError('there is no certificate in it');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      const which = `certificate ${index + 1} of ${blocks.length}`;
      throw new TypeError(`${which} cannot be read`, { cause });
    }
  });
}

/** The way from a presented leaf to one of these authorities. Dates and names are not looked at. */
export function pathTo(
  authorities: readonly X509Certificate[],
  presented: PresentedChain,
): CertificatePath | undefined {
  return findPath(presented, (certificate) =>
    authorities.find((authority) => isSignedBy(certificate, authority)),
  );
}

/** The CAs of many tenants, to be asked whose a certificate is. */
export class KnownAuthorities {
  /** With their names. Certificates are parsed when they are needed, which is seldom: each takes some kilobytes. */
  readonly #known = new Map<string, { readonly pem: string; readonly names: readonly string[] }>();
  /** The tenants with an authority of that name. Most are called `CN=kubernetes`. */
  readonly #tenantsByName = new Map<string, Set<string>>();

  /**
   * Takes the CA of a tenant in place of the one it had.
   *
   * @throws TypeError if it cannot be read; the one it had is then forgotten.
   */
  set(tenant: string, pem: string): void {
    if (this.#known.get(tenant)?.pem === pem) return;
    this.delete(tenant);
    const names = parseAuthorities(pem).map(({ subject }) => subject);
    this.#known.set(tenant, { pem, names });
    for (const name of names) {
      const tenants = this.#tenantsByName.get(name) ?? new Set();
      this.#tenantsByName.set(name, tenants.add(tenant));
    }
  }

  /** Forgets a tenant. */
  delete(tenant: string): void {
    for (const name of this.#known.get(tenant)?.names ?? []) {
      const tenants = this.#tenantsByName.get(name);
      tenants?.delete(tenant);
      if (tenants?.size === 0) this.#tenantsByName.delete(name);
    }
    this.#known.delete(tenant);
  }

  /** The tenant whose CA it is that a presented leaf leads to. */
  holderOf(presented: PresentedChain): string | undefined {
    let holder: string | undefined;
    findPath(presented, (certificate) => {
      for (const tenant of this.#tenantsByName.get(certificate.issuer) ?? []) {
        const own = this.#known.get(tenant);
        const authority =
          own && parseAuthorities(own.pem).find((candidate) => isSignedBy(certificate, candidate));
        if (authority === undefined) continue;
        holder = tenant;
        return authority;
      }
      return undefined;
    });
    return holder;
  }
}

function findPath(
  [leaf, ...others]: PresentedChain,
  authorityOf: (certificate: X509Certificate) => X509Certificate | undefined,
): CertificatePath | undefined {
  const signers: X509Certificate[] = [];
  let last = leaf;
  while (signers.length < MAX_STEPS) {
    const authority = authorityOf(last);
    if (authority !== undefined) return [leaf, ...signers, authority];
    // Only an authority can sign: else each user with a client certificate could make a server's.
    const next = others.find(
      (other) => other.ca && !signers.includes(other) && isSignedBy(last, other),
    );
    if (next === undefined) return undefined;
    signers.push(next);
    last = next;
  }
  return undefined;
}

/** Names and key identifiers are compared first, in 0.2 us; a signature takes 80. */
function isSignedBy(certificate: X509Certificate, signer: X509Certificate): boolean {
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey);
}
