/**
 * What strict clients will not like about a CA. Python 3.13 and later is one: its default is what OpenSSL calls
 * X509_V_FLAG_X509_STRICT. Nothing here keeps a certificate from being made, and the API server's own has the same
 * trouble.
 */
import 'reflect-metadata'; // before x509, which cannot be loaded without
import {
  BasicConstraintsExtension,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
} from '@peculiar/x509';
import type { Finding } from '../plan/finding.ts';

/** Warnings about a CA that {@link readAuthority} takes; none for one as kubeadm and k0s make it. */
export function authorityFindings(ca: X509Certificate): readonly Finding[] {
  const findings: Finding[] = [];
  const warn = (code: string, lack: string): void => {
    findings.push({
      code,
      severity: 'warning',
      message: `the CA '${ca.subject}' has ${lack}, and strict clients (Python 3.13, openssl verify -x509_strict) refuse what it signs`,
      action:
        'make the next CA with keyUsage keyCertSign, a subjectKeyIdentifier and critical basicConstraints',
    });
  };
  if (ca.getExtension(KeyUsagesExtension) === null) warn('CaWithoutKeyUsage', 'no keyUsage');
  if (ca.getExtension(SubjectKeyIdentifierExtension) === null) {
    warn('CaWithoutKeyIdentifier', 'no subjectKeyIdentifier');
  }
  if (ca.getExtension(BasicConstraintsExtension)?.critical !== true) {
    warn('CaConstraintsNotCritical', 'basicConstraints that are not critical');
  }
  return findings;
}
