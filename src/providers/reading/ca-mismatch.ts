/**
 * Whether a CA and a kubeconfig belong to the same tenant. Snicket signs a certificate with the key of the CA, and
 * writes it to the cluster of the kubeconfig. Without this check, a user who can reference both could obtain a
 * certificate by the CA of another tenant in a cluster of their own.
 */
import { X509Certificate } from 'node:crypto';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { isPlaceholder } from '../../plan/placeholder.ts';
import { certificatesIn } from './authority-certificates.ts';

/** A text, and the Secret that contains it. */
interface SecretText {
  readonly key: ObjectKey;
  readonly text: string;
}

/**
 * Returns why the two do not belong to the same tenant: the kubeconfig trusts a CA that is not in the Secret of the CA.
 * Snicket then only connects to servers with a certificate by the CA in the Secret. Undefined if they belong together,
 * and if the kubeconfig cannot be parsed, since Snicket cannot connect with it.
 */
export function caMismatch(authority: SecretText, kubeconfig: SecretText): Finding | undefined {
  if (isPlaceholder(authority.text)) return undefined;
  const trusted = trustedBy(kubeconfig.text);
  if (trusted === undefined) return undefined;
  const [kubeconfigKey, authorityKey] = [keyText(kubeconfig.key), keyText(authority.key)];
  const known = new Set(splitCertificates(authority.text));
  const [first] = trusted;
  if (first === undefined) {
    return mismatch(
      `The kubeconfig in Secret ${kubeconfigKey} has no CA, so it may belong to another tenant than the CA in Secret ${authorityKey}.`,
      'Add the certificate of that CA to it as certificate-authority-data.',
    );
  }
  const unknown = trusted.find((certificate) => !known.has(certificate));
  if (unknown === undefined) return undefined;
  const { fingerprint256 } = new X509Certificate(unknown);
  return mismatch(
    `The kubeconfig in Secret ${kubeconfigKey} trusts a CA (SHA-256 ${fingerprint256.slice(0, 23)}...) that is not in Secret ${authorityKey}. They belong to different tenants, or one of them is outdated.`,
    'Reference the Secrets of one tenant in spec.controlPlane, or store the same CA in both. Until then, Snicket signs nothing with this CA and does not change the tenant.',
  );
}

/** Returns the certificates that a kubeconfig trusts, in normalized PEM. */
function trustedBy(kubeconfig: string): readonly string[] | undefined {
  try {
    return splitCertificates(parseKubeconfig(kubeconfig).ca ?? '');
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return undefined;
  }
}

function splitCertificates(text: string): readonly string[] {
  return (certificatesIn(text) ?? '').split(/(?=-----BEGIN)/).filter((block) => block !== '');
}

function mismatch(message: string, action: string): Finding {
  return { code: 'CaMismatch', severity: 'error', message, action };
}
