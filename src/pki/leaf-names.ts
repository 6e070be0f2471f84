/** Normalizes the DNS names and IP addresses of a leaf certificate. */
import { formatAddress, parseAddress } from '../wire/address-pair.ts';
import { ipVersion } from '../wire/ip-address.ts';
import { serverNameFault } from '../wire/hello/server-name.ts';
import { PkiError } from './pki-error.ts';

/** The subject alternative names of a leaf. */
export interface LeafNames {
  /** DNS names such as `kubernetes.default.svc`. Wildcards are not supported, because no client dials one. */
  readonly names: readonly string[];
  /** IPv4 and IPv6 addresses. */
  readonly addresses: readonly string[];
}

/** Returns the names in lower case and the addresses in the form of RFC 5952, without duplicates. @throws PkiError */
export function normalNames({ names, addresses }: LeafNames): LeafNames {
  if (names.length + addresses.length === 0) {
    throw new PkiError(
      'FieldInvalid',
      'A certificate needs at least one name or address.',
      'Request the names that pods dial.',
    );
  }
  return {
    names: [...new Set(names.map(normalName))],
    addresses: [...new Set(addresses.map(normalAddress))],
  };
}

function normalName(name: string): string {
  const bytes = Buffer.from(name);
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault === undefined) return normalText(name);
  throw new PkiError(
    'FieldInvalid',
    `Name '${name}' is invalid in a certificate (${fault}).`,
    'Use a DNS name without a trailing dot.',
  );
}

function normalAddress(address: string): string {
  if (ipVersion(address) !== 0) return normalText(address);
  throw new PkiError(
    'FieldInvalid',
    `Value '${address}' is not an IP address.`,
    'Use an IPv4 or IPv6 address, and pass DNS names as names.',
  );
}

/** Returns a name or an address in the form of {@link normalNames}. */
export function normalText(text: string): string {
  if (ipVersion(text) === 0) return text.toLowerCase();
  const bytes = parseAddress(text);
  return formatAddress(bytes, 0, bytes.length === 4 ? 'ipv4' : 'ipv6');
}
