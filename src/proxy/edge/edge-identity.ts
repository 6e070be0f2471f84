/**
 * Whether the edge is who it should be, once the handshake is through.
 */
import type { Socket } from 'bun';

/** Why the edge is not to be believed, or not to be had. */
export interface IdentityFault extends Error {
  /** OpenSSL's or Node's, such as CERT_HAS_EXPIRED; absent if the edge hung up without a word. */
  readonly code?: unknown;
}

const NO_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/**
 * What is wrong with the handshake; nothing if the certificate chains to the authorities and carries the name.
 *
 * Bun has checked both when `rejectUnauthorized` is set, and fails the handshake. But like Node it takes the common name
 * where a certificate has no alternative name, and whoever may sign up as a user of a cluster chooses a common name. So
 * the name is looked for once more, among the alternative ones only, as Go does. That costs 11 us.
 */
export function identityFault(
  socket: Socket<unknown>,
  success: boolean,
  error: Error | null,
  serverName: string,
): IdentityFault | undefined {
  if (error !== null) return error;
  if (!success || !socket.authorized) return new Error('the handshake was not completed');
  const certificate = socket.getPeerX509Certificate();
  if (certificate.checkHost(serverName, { subject: 'never' }) !== undefined) return undefined;
  const sentence = `the certificate has no alternative name ${serverName}, only a subject`;
  return Object.assign(new Error(sentence), { code: NO_NAME });
}
