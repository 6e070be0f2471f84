/**
 * The file with the tenant's secret, with which the proxy signs its headers: 32 bytes as base64, on one line.
 */
import { TENANT_SECRET_BYTES, tenantKey, type TenantKey } from '../../wire/tenant-key.ts';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Parses the key of a host.
 *
 * @throws Error with a message that contains no part of the secret.
 */
export function parseTenantSecret(bytes: Buffer, path: string, host: string): TenantKey {
  const text = bytes.toString('latin1').trim();
  const secret = Buffer.from(text, 'base64');
  if (!BASE64.test(text) || secret.toString('base64') !== text) {
    throw new Error(
      `${path} is not base64 on one line; write the ${TENANT_SECRET_BYTES} bytes of the tenant's key as base64`,
    );
  }
  if (secret.length !== TENANT_SECRET_BYTES) {
    throw new Error(
      `the key in ${path} has ${secret.length} bytes instead of ${TENANT_SECRET_BYTES}; copy all of it`,
    );
  }
  return tenantKey(host, secret);
}
