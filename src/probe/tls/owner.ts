/**
 * Determines the peer of a handshake: this tenant, another one, the edge, or none.
 */
import type { X509Certificate } from 'node:crypto';
import { pathTo, type CertificatePath, type KnownAuthorities } from './authorities.ts';
import type { Handshake } from './handshake.ts';
import { certificateText } from './validity.ts';

/** The peer, or why there was none. */
export type Owner =
  | {
      readonly kind: 'tenant';
      readonly path: CertificatePath;
      readonly protocol: string | undefined;
    }
  | { readonly kind: 'otherTenant'; readonly tenant: string }
  /** An API server by its names, with an unknown CA. */
  | { readonly kind: 'unknownAuthority'; readonly leaf: X509Certificate }
  /** Neither a tenant nor an API server: the edge itself. */
  | { readonly kind: 'edge'; readonly leaf: X509Certificate }
  /** Each `why` follows the address of the edge in messages: `closed the connection during the handshake`. */
  | { readonly kind: 'noRoute'; readonly why: string }
  | { readonly kind: 'noEndpoint'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'notTls' }
  | { readonly kind: 'timeout' };

/** A handshake and its peer. */
export interface PeerAnswer {
  readonly host: string;
  readonly port: number;
  /** The address of the edge, such as `203.0.113.10:443`. */
  readonly at: string;
  readonly owner: Owner;
  readonly timeoutMs: number;
}

/** The CAs of the tenant and of other tenants. */
interface Identities {
  readonly authorities: readonly X509Certificate[];
  readonly others?: KnownAuthorities | undefined;
}

/** Returns the peer of a handshake. */
export function ownerOf(
  handshake: Handshake,
  { authorities: tenantCas, others }: Identities,
): Owner {
  switch (handshake.kind) {
    case 'secured': {
      const { presented, protocol } = handshake;
      const path = pathTo(tenantCas, presented);
      if (path !== undefined) return { kind: 'tenant', path, protocol };
      const tenant = others?.ownerOf(presented);
      if (tenant !== undefined) return { kind: 'otherTenant', tenant };
      const [leaf] = presented;
      return { kind: isOfApiServer(leaf) ? 'unknownAuthority' : 'edge', leaf };
    }
    case 'alert':
      return ownerOfAlert(handshake.alert);
    case 'closed':
      return {
        kind: 'noRoute',
        why: `closed the connection during the handshake (${handshake.code})`,
      };
    case 'malformed':
      return { kind: 'refused', why: `broke the TLS handshake (${handshake.code})` };
    case 'notTls':
    case 'timeout':
      return handshake;
  }
}

/**
 * Reports whether a certificate is that of an API server. Every API server has this name, for its own pods. No edge has
 * a reason to.
 */
export function isOfApiServer(leaf: X509Certificate): boolean {
  return leaf.checkHost('kubernetes.default.svc', { subject: 'never' }) !== undefined;
}

/**
 * Reports whether two hosts fail for one cause: the same answer of the same peer. Both hosts of a tenant use the same
 * edge, and servers with certificates of the same CA.
 */
export function isSameFault(a: Owner, b: Owner): boolean {
  if ('leaf' in a && 'leaf' in b) return a.leaf.issuer === b.leaf.issuer;
  if (a.kind === 'otherTenant' && b.kind === 'otherTenant') return a.tenant === b.tenant;
  return a.kind === b.kind;
}

/**
 * Snicket's gateway sends `internal_error` for a host whose endpoints do not respond. HAProxy and Envoy close the
 * connection.
 */
function ownerOfAlert(alert: string): Owner {
  const why = `sent the TLS alert ${alert}`;
  if (alert === 'unrecognized_name') return { kind: 'noRoute', why };
  return alert === 'internal_error' ? { kind: 'noEndpoint', why } : { kind: 'refused', why };
}

/** Returns the peer as a clause with the value. */
export function answerText({ host, at, owner, timeoutMs }: PeerAnswer): string {
  switch (owner.kind) {
    case 'tenant':
      return `Host ${host} at ${at} reaches this tenant.`;
    case 'otherTenant':
      return `Host ${host} at ${at} reaches tenant ${owner.tenant}.`;
    case 'unknownAuthority':
      return `The server at ${at} presents ${certificateText(owner.leaf)} for host ${host}. It is the certificate of an API server, but the tenant's CA did not sign it.`;
    case 'edge':
      return `The server at ${at} presents ${certificateText(owner.leaf)} for host ${host}. The tenant's CA did not sign it.`;
    case 'noRoute':
    case 'noEndpoint':
    case 'refused':
      return `The server at ${at} ${owner.why} for host ${host}.`;
    case 'notTls':
      return `The server at ${at} does not answer in TLS for host ${host}.`;
    case 'timeout':
      return `The server at ${at} did not complete the TLS handshake for host ${host} within ${timeoutMs} ms.`;
  }
}
