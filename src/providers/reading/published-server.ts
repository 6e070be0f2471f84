/**
 * Whether the kubeconfig and the certificate that a provider publishes are for the edge. This shows that the provider
 * has reconciled its prepared object. Some providers do not update existing Secrets: Kamaji 1.0 and Steward 0.3 keep a
 * kubeconfig, and Kamaji a certificate, until a client deletes the Secret.
 */
import { X509Certificate } from 'node:crypto';
import type { PreparePolicy } from '../../api/exposure.ts';
import { objectText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedFacts } from './control-plane-reading.ts';
import { statefulSetName } from '../k0s/control-plane.ts';
import type { PreparationSpec } from '../preparation/preparation.ts';

/** The ClusterRole in deploy/optional/renew-secrets.yaml. */
const RENEWAL_ROLE = 'snicket-renew-secrets';

/** Returns the findings about a kubeconfig with another server, and about a certificate without the hosts. */
export function publishedFindings(
  facts: ProvidedFacts,
  spec: PreparationSpec,
  policy: PreparePolicy,
): readonly Finding[] {
  const [object] = facts.objects;
  if (object === undefined) return [];
  return [
    ...kubeconfigFindings(object, facts, spec, policy),
    ...certificateFindings(object, facts, spec, policy),
  ];
}

/** Reports whether clients of this server reach the edge. */
export function isServerFor(server: string, { hosts, port }: PreparationSpec): boolean {
  return withPort(server) === `https://${hosts.api}:${port}`;
}

/** Returns the hosts that the certificate of the API server lacks; none if the certificate is unknown. */
export function lackingHosts(
  { servingCertificate, hasKonnectivity, provider }: ProvidedFacts,
  { hosts: { api, konnectivity } }: PreparationSpec,
): readonly string[] {
  if (servingCertificate === undefined) return [];
  // Steward's konnectivity-server has a separate certificate.
  const isShared = hasKonnectivity && provider !== 'steward';
  const required = [api, ...(isShared && konnectivity !== undefined ? [konnectivity] : [])];
  return required.filter((host) => !covers(servingCertificate, host));
}

/** Returns the command that deletes a Secret, which the provider then creates again. */
export function deletion({ name, namespace }: ObjectKey): string {
  return `kubectl delete -n ${namespace} secret ${name}`;
}

/** Returns how to renew a kubeconfig of k0smotron. */
export function staleKubeconfig(object: KubeObject): string {
  const { namespace } = object.metadata;
  return `Restart StatefulSet ${statefulSetName(object)} in namespace ${namespace}, and delete the Secret with the kubeconfig. k0smotron then recreates it.`;
}

/** Returns the command, and the ClusterRole with which Snicket deletes the Secret itself. */
function renewal(secret: ObjectKey, policy: PreparePolicy): string {
  const automatic =
    policy === 'Report'
      ? ''
      : ` (Snicket does so itself if ClusterRole ${RENEWAL_ROLE} is bound to it)`;
  return `If this persists, have the provider recreate it${automatic}: ${deletion(secret)}`;
}

function kubeconfigFindings(
  object: KubeObject,
  { provider, publishedServer }: ProvidedFacts,
  spec: PreparationSpec,
  policy: PreparePolicy,
): readonly Finding[] {
  if (publishedServer === undefined || isServerFor(publishedServer, spec)) return [];
  const { name, namespace } = object.metadata;
  const secret = { name: `${name}-admin-kubeconfig`, namespace };
  return [
    {
      code: 'KubeconfigOutdated',
      severity: 'warning',
      message: `The kubeconfig of ${objectText(object)} has the server ${publishedServer}, but it should be https://${spec.hosts.api}:${spec.port}.`,
      action:
        provider === 'kamaji' || provider === 'steward'
          ? renewal(secret, policy)
          : `If this persists: ${staleKubeconfig(object)}`,
    },
  ];
}

/** An error, since clients reject such a certificate. */
function certificateFindings(
  object: KubeObject,
  facts: ProvidedFacts,
  spec: PreparationSpec,
  policy: PreparePolicy,
): readonly Finding[] {
  const missingHosts = lackingHosts(facts, spec);
  if (missingHosts.length === 0) return [];
  const { name, namespace } = object.metadata;
  const secret = { name: `${name}-api-server-certificate`, namespace };
  return [
    {
      code: 'CertificateOutdated',
      severity: 'error',
      message: `The API server's certificate of ${objectText(object)} lacks ${missingHosts.join(' and ')} because it was issued before the hosts were set.`,
      action: renewal(secret, policy),
    },
  ];
}

/** A certificate that cannot be parsed counts as valid. A connection to the API server shows the problem. */
function covers(certificate: string, host: string): boolean {
  try {
    return new X509Certificate(certificate).checkHost(host) !== undefined;
  } catch {
    return true;
  }
}

/** Adds the default port of HTTPS to a server without a port. */
function withPort(server: string): string {
  const url = URL.parse(server);
  if (url === null) return server;
  return `https://${url.hostname}:${url.port === '' ? '443' : url.port}`;
}
