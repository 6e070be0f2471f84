/**
 * The names in the certificate that proxies serve in mode Terminate: the names by which pods reach their API server.
 */
import type { LeafNames } from '../pki/leaf-names.ts';
import type { TenantFacts } from '../tenant/tenant-facts.ts';

/** Returns the names and addresses of the tenant's Service `default/kubernetes`. */
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
