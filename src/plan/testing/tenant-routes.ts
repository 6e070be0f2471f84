/**
 * For tests only: a TenantRoute of an Exposure in namespace `tenants`.
 */
import type { TenantRoute, TenantRouteSpec } from '../../api/tenant-route.ts';
import type { ObjectMeta } from '../../kube/object.ts';

/** Returns a TenantRoute for a host of an Exposure, on Edge `shared` with driver `snicket`. */
export function tenantRoute(
  exposure: string,
  host: string,
  metadata: Partial<ObjectMeta> = {},
  spec: Partial<TenantRouteSpec> = {},
): TenantRoute {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'TenantRoute',
    metadata: {
      name: `${exposure}-${host.replaceAll('.', '-')}`,
      namespace: 'tenants',
      ...metadata,
    },
    spec: {
      edgeRef: { name: 'shared' },
      driver: 'snicket',
      exposureRef: { name: exposure },
      host,
      type: 'API',
      backend: { service: { name: exposure, port: 6443 } },
      ...spec,
    },
  };
}
