/**
 * The names in the certificate that proxies serve in mode Terminate: those by which pods know their API server.
 */
import type { LeafNames } from '../pki/leaf-names.ts';
import type { TenantFacts } from '../tenant/tenant-facts.ts';

/** The names and addresses of the tenant's Service `default/kubernetes`. */
export function leafNames({
  clusterDomain,
  serviceAddresses,
}: Pick<TenantFacts, 'clusterDomain' | 'serviceAddresses'>): LeafNames {
  const service = 'kubernetes.default.svc';
  return {
    names: ['kubernetes', 'kubernetes.default', service, `${service}.${clusterDomain}`],
    addresses: serviceAddresses,
  };
}
