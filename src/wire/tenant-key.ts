/**
 * The keys with which a worker's proxy proves its tenant (see tenant-header.ts).
 *
 * Only operator and gateway have the master key. Each host has its own secret, derived from it. A worker has the secret
 * of one host and can sign headers for that host only.
 */
import { uint32 } from './bytes.ts';
import { serverNameFault } from './hello/server-name.ts';

/** The length of a tenant's secret. */
export const TENANT_SECRET_BYTES = 32;

const MASTER_KEY_BYTES = 32;
const SHA256_BYTES = 32;

/** The NUL ends the constant part, so that different versions and hosts never result in the same text. */
const DERIVATION = 'snicket tenant header v1\0';

/** A key for the headers of one host. */
export interface TenantKey {
  /** The host in lower case. */
  readonly host: string;
  /** Identifies the master key that this key comes from, during a rotation. */
  readonly id: number;
  readonly secret: Uint8Array;
}

/** Reasons to reject key material. */
type TenantKeyErrorCode = 'master_key_too_short' | 'tenant_secret_length' | 'tenant_host_invalid';

/** The error for invalid key material. */
class TenantKeyError extends Error {
  readonly code: TenantKeyErrorCode;

  constructor(code: TenantKeyErrorCode, message: string) {
    super(message);
    this.name = 'TenantKeyError';
    this.code = code;
  }
}

/**
 * Returns the secret of a host: HKDF-SHA256 (RFC 5869) of the master key, without salt, with the info `snicket tenant
 * header v1`, a NUL and the host in lower case.
 *
 * @throws TenantKeyError if the master key has fewer than 32 bytes or the host is not a DNS name.
 */
export function deriveTenantSecret(masterKey: Uint8Array, host: string): Uint8Array {
  if (masterKey.length < MASTER_KEY_BYTES) {
    throw new TenantKeyError(
      'master_key_too_short',
      `the master key has ${masterKey.length} bytes; give at least ${MASTER_KEY_BYTES} random ones`,
    );
  }
  const info = DERIVATION + checkedHost(host);
  // Extract, with a salt of zeros, and one round of expand. Bun's own hash, because node:crypto costs a thread 1 MB.
  const pseudorandomKey = hmac(new Uint8Array(SHA256_BYTES)).update(masterKey).digest();
  return new Uint8Array(hmac(pseudorandomKey).update(`${info}\x01`).digest());
}

/**
 * Creates a key from a host and its secret. Its id is the first four bytes of the SHA-256 of the secret: enough to
 * distinguish two keys, and not enough to learn anything about a secret of 256 random bits.
 *
 * @throws TenantKeyError if the secret does not have 32 bytes or the host is not a DNS name.
 */
export function tenantKey(host: string, secret: Uint8Array): TenantKey {
  if (secret.length !== TENANT_SECRET_BYTES) {
    throw new TenantKeyError(
      'tenant_secret_length',
      `the secret of ${host} has ${secret.length} bytes instead of ${TENANT_SECRET_BYTES}; copy all of it`,
    );
  }
  const id = uint32(new Bun.CryptoHasher('sha256').update(secret).digest(), 0);
  return { host: checkedHost(host), id, secret };
}

function hmac(key: Uint8Array): Bun.CryptoHasher {
  return new Bun.CryptoHasher('sha256', key);
}

function checkedHost(host: string): string {
  const bytes = Buffer.from(host, 'utf8');
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault !== undefined) {
    throw new TenantKeyError(
      'tenant_host_invalid',
      `'${host}' cannot be the host of a tenant (${fault}); give a DNS name`,
    );
  }
  return host.toLowerCase();
}
