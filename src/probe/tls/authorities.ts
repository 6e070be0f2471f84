/**
 * Determines the owner of a certificate: the path from a leaf to a known CA.
 *
 * TLS itself only reports whether the certificate is valid, and for an expired one not who signed it.
 */
import { X509Certificate } from 'node:crypto';
import { KeySets } from '../../kube/key-sets.ts';
import { certificateBlocks } from '../../wire/pem.ts';

/** The leaf, then the signer of each previous certificate. The last is a known CA. */
export type CertificatePath = readonly [leaf: X509Certificate, ...signers: X509Certificate[]];

/** The certificates that a peer presents in its handshake, the leaf first. */
export type PresentedChain = CertificatePath;

/** The maximum length of a path. Real paths have three or four certificates. */
const MAX_STEPS = 8;

/**
 * Parses the certificates of a tenant's CA: one, or several during a rotation.
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
      const name = `certificate ${index + 1} of ${blocks.length}`;
      throw new TypeError(`${name} cannot be read`, { cause });
    }
  });
}

/** Returns the path from a presented leaf to one of these CAs. Dates and names are not checked. */
export function pathTo(
  authorities: readonly X509Certificate[],
  presented: PresentedChain,
): CertificatePath | undefined {
  return findPath(presented, (certificate) =>
    authorities.find((authority) => isSignedBy(certificate, authority)),
  );
}

/** The CAs of many tenants, to find the owner of a certificate. */
export class KnownAuthorities {
  /** By tenant. Certificates are parsed on demand, which is rare, since each takes some kilobytes. */
  readonly #known = new Map<string, { readonly pem: string; readonly names: readonly string[] }>();
  /** Tenants by the name of their CA. Most are named `CN=kubernetes`. */
  readonly #tenantsByName = new KeySets();

  /**
   * Sets the CA of a tenant.
   *
   * @throws TypeError if it cannot be read. The previous CA is then removed.
   */
  set(tenant: string, pem: string): void {
    if (this.#known.get(tenant)?.pem === pem) return;
    this.delete(tenant);
    const names = parseAuthorities(pem).map(({ subject }) => subject);
    this.#known.set(tenant, { pem, names });
    for (const name of names) this.#tenantsByName.add(name, tenant);
  }

  /** Removes a tenant. */
  delete(tenant: string): void {
    for (const name of this.#known.get(tenant)?.names ?? []) {
      this.#tenantsByName.delete(name, tenant);
    }
    this.#known.delete(tenant);
  }

  /** Returns the tenant whose CA signed a presented leaf, directly or through intermediates. */
  ownerOf(presented: PresentedChain): string | undefined {
    let owner: string | undefined;
    findPath(presented, (certificate) => {
      for (const tenant of this.#tenantsByName.get(certificate.issuer)) {
        const known = this.#known.get(tenant);
        const authority =
          known &&
          parseAuthorities(known.pem).find((candidate) => isSignedBy(certificate, candidate));
        if (authority === undefined) continue;
        owner = tenant;
        return authority;
      }
      return undefined;
    });
    return owner;
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
    // Only a CA can sign. Otherwise any user with a client certificate could issue server certificates.
    const next = others.find(
      (other) => other.ca && !signers.includes(other) && isSignedBy(last, other),
    );
    if (next === undefined) return undefined;
    signers.push(next);
    last = next;
  }
  return undefined;
}

/** Compares names and key identifiers first, in 0.2 us. A signature takes 80 us. */
function isSignedBy(certificate: X509Certificate, signer: X509Certificate): boolean {
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey);
}
