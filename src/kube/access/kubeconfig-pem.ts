/**
 * PEM that somebody else wrote, checked before it is used: TLS itself would say no more than that no connection came
 * about.
 */
import { createSecureContext } from 'node:tls';
import { AccessError } from './cluster-access.ts';

/** The same text, once it is sure that it holds certificates. @throws AccessError that names `where` */
export function certificatesIn(pem: string, where: string): string {
  if (!pem.includes('-----BEGIN CERTIFICATE-----') || !isTaken({ ca: pem })) {
    throw new AccessError('AccessInvalid', `${where} holds no PEM certificate`);
  }
  return pem;
}

/** @throws AccessError if they are no certificate and key, or not of each other. */
export function requirePair(cert: string, key: string, where: string): void {
  if (isTaken({ cert, key })) return;
  throw new AccessError(
    'AccessInvalid',
    `${where} has a client certificate and a client key that cannot be used together; both must be PEM, and of each other`,
  );
}

function isTaken(options: Parameters<typeof createSecureContext>[0]): boolean {
  try {
    createSecureContext(options);
    return true;
  } catch {
    // What is wrong with it says BoringSSL by a number; the caller says it in words.
    return false;
  }
}
