/** Verifies the identity of the edge after the handshake. */
import type { Socket } from 'bun';

/** Why the edge is not trusted, or why the handshake failed. */
interface IdentityFault extends Error {
  /**
   * The code of OpenSSL or Node, such as CERT_HAS_EXPIRED. Absent if the edge closed the connection without an alert.
   */
  readonly code?: unknown;
}

const NO_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/**
 * Returns why the handshake failed. Undefined if the certificate chains to the authorities and has the name.
 *
 * Bun checks both because `rejectUnauthorized` is set, and fails the handshake. But like Node, it accepts the common
 * name of a certificate without alternative names. A user who may request a client certificate in the cluster can
 * choose its common name. So this function checks only the alternative names, as Go does. That takes 11 us.
 */
export function identityFault(
  socket: Socket<unknown>,
  success: boolean,
  error: Error | null,
  serverName: string,
): IdentityFault | undefined {
  if (error !== null) return error;
  if (!success || !socket.authorized) return new Error('the handshake did not complete');
  const certificate = socket.getPeerX509Certificate();
  if (certificate.checkHost(serverName, { subject: 'never' }) !== undefined) return undefined;
  const message = `the certificate has no subject alternative name ${serverName}`;
  return Object.assign(new Error(message), { code: NO_NAME });
}
