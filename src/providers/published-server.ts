/**
 * Whether what a provider hands out leads to the edge: after its object is as it must be, this is what shows that the
 * provider has taken it up. Not all do by themselves: Kamaji 1.0 and Steward 0.3 keep a kubeconfig, and Kamaji a
 * certificate, that were there before, until somebody deletes their Secrets.
 */
import { X509Certificate } from 'node:crypto';
import { objectText, type KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type { ProvidedFacts } from './control-plane-reading.ts';
import { ingressName } from './k0s-control-plane.ts';
import type { PreparationWish } from './preparation/preparation.ts';

/** What is to be said of kubeconfigs that lead elsewhere, and of a certificate without the hosts. */
export function publishedFindings(facts: ProvidedFacts, wish: PreparationWish): readonly Finding[] {
  const [object] = facts.objects;
  if (object === undefined) return [];
  return [...kubeconfigFindings(object, facts, wish), ...certificateFindings(object, facts, wish)];
}

function kubeconfigFindings(
  object: KubeObject,
  { provider, publishedServer }: ProvidedFacts,
  { hosts, port }: PreparationWish,
): readonly Finding[] {
  const wanted = `https://${hosts.api}:${port}`;
  if (publishedServer === undefined || withPort(publishedServer) === wanted) return [];
  const { name, namespace } = object.metadata;
  return [
    {
      ...{ code: 'KubeconfigLeadsElsewhere', severity: 'warning' },
      message: `the kubeconfig of ${objectText(object)} has the server ${publishedServer}, and should have ${wanted}`,
      action:
        provider === 'kamaji' || provider === 'steward'
          ? renewal(`${name}-admin-kubeconfig`, namespace)
          : `if it stays, restart the StatefulSet ${ingressName(object)} in ${namespace}, and delete the Secret with the kubeconfig: k0smotron makes it anew`,
    },
  ];
}

function certificateFindings(
  object: KubeObject,
  { servingCertificate, hasKonnectivity, provider }: ProvidedFacts,
  { hosts: { api, konnectivity } }: PreparationWish,
): readonly Finding[] {
  if (servingCertificate === undefined) return [];
  // Steward's konnectivity-server has a certificate of its own.
  const isShared = hasKonnectivity && provider !== 'steward';
  const wanted = [api, ...(isShared && konnectivity !== undefined ? [konnectivity] : [])];
  const lacking = wanted.filter((host) => !covers(servingCertificate, host));
  if (lacking.length === 0) return [];
  const { name, namespace } = object.metadata;
  return [
    {
      ...{ code: 'CertificateLacksHost', severity: 'warning' },
      message: `the certificate of the API server of ${objectText(object)} does not have ${lacking.join(' and ')}`,
      action: renewal(`${name}-api-server-certificate`, namespace),
    },
  ];
}

function renewal(secret: string, namespace: string | undefined): string {
  return `if it stays, let the provider make it anew: kubectl delete -n ${namespace} secret ${secret}`;
}

/** One that cannot be read says nothing; whoever dials the API server finds out. */
function covers(certificate: string, host: string): boolean {
  try {
    return new X509Certificate(certificate).checkHost(host) !== undefined;
  } catch {
    return true;
  }
}

/** A server without a port has that of HTTPS. */
function withPort(server: string): string {
  const url = URL.parse(server);
  if (url === null) return server;
  return `https://${url.hostname}:${url.port === '' ? '443' : url.port}`;
}
