/**
 * The keys by which a worker's proxy proves for which tenant it speaks (see tenant-header.ts).
 *
 * One master key, which only operator and gateway hold, gives every host a secret of its own; a worker gets that one
 * secret and can speak for that one host.
 */
import { uint32 } from './bytes.ts';
import { serverNameFault } from './hello/server-name.ts';

/** The bytes of a tenant's secret. */
export const TENANT_SECRET_BYTES = 32;

const MASTER_KEY_BYTES = 32;
const SHA256_BYTES = 32;

/** The NUL ends the constant part, so that no version and host can ever read as another version and host. */
const DERIVATION = 'snicket tenant header v1\0';

/** A key for the headers of one host. */
export interface TenantKey {
  /** In lower case. */
  readonly host: string;
  /** Tells the gateway which of its master keys this one comes from, while one is being replaced. */
  readonly id: number;
  readonly secret: Uint8Array;
}

/** What can be wrong with the material for a key. */
export type TenantKeyErrorCode =
  | 'master_key_too_short'
  | 'tenant_secret_length'
  | 'tenant_host_invalid';

/** A key that cannot be made. */
export class TenantKeyError extends Error {
  readonly code: TenantKeyErrorCode;

  constructor(code: TenantKeyErrorCode, sentence: string) {
    super(sentence);
    this.name = 'TenantKeyError';
    this.code = code;
  }
}

/**
 * The secret of a host: HKDF-SHA256 (RFC 5869) of the master key, without salt, with the info
 * `snicket tenant header v1`, a NUL and the host in lower case.
 *
 * @throws TenantKeyError if the master key has less than 32 bytes or the host is no DNS name.
 */
export function deriveTenantSecret(masterKey: Uint8Array, host: string): Uint8Array {
  if (masterKey.length < MASTER_KEY_BYTES) {
    throw new TenantKeyError(
      'master_key_too_short',
      `the master key has ${masterKey.length} bytes; give at least ${MASTER_KEY_BYTES} random ones`,
    );
  }
  const info = DERIVATION + checkedHost(host);
  // Extract, with a salt of zeros, and one round of expand. In Bun's own hash: node:crypto costs a thread 1 MB.
  const pseudorandomKey = hmac(new Uint8Array(SHA256_BYTES)).update(masterKey).digest();
  return new Uint8Array(hmac(pseudorandomKey).update(`${info}\x01`).digest());
}

/**
 * A key from a host and its secret. Its id is the first four bytes of the SHA-256 of the secret: enough to tell two
 * keys apart, and nothing to learn a secret of 256 random bits from.
 *
 * @throws TenantKeyError if the secret has not 32 bytes or the host is no DNS name.
 */
export function tenantKey(host: string, secret: Uint8Array): TenantKey {
  if (secret.length !== TENANT_SECRET_BYTES) {
    throw new TenantKeyError(
      'tenant_secret_length',
      `the secret of ${host} has ${secret.length} bytes in place of ${TENANT_SECRET_BYTES}; copy it whole`,
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
