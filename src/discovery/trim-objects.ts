/** Trims watched objects to the fields that a gateway uses, since a management cluster may have thousands of them. */
import { SERVICE_NAME_LABEL } from '../kube/endpoints/endpoint-slice.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { EndpointSlice } from './tenant-routes.ts';

/** Returns the fields of a TenantRoute that the gateway uses. */
export function trimTenantRoute({ apiVersion, kind, metadata, spec }: TenantRoute): TenantRoute {
  const { name, namespace, resourceVersion, uid, creationTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: definedOnly({ name, namespace, resourceVersion, uid, creationTimestamp }),
    spec,
  };
}

/** Returns the fields of an EndpointSlice that the gateway uses. */
export function trimEndpointSlice(slice: EndpointSlice): EndpointSlice {
  const { apiVersion, kind, metadata, addressType, ports, endpoints } = slice;
  const { name, namespace, resourceVersion, labels } = metadata;
  const service = labels?.[SERVICE_NAME_LABEL] ?? '';
  return {
    apiVersion,
    kind,
    addressType,
    ports: ports ?? [],
    metadata: definedOnly({
      name,
      namespace,
      resourceVersion,
      labels: { [SERVICE_NAME_LABEL]: service },
    }),
    endpoints: (endpoints ?? []).map(({ addresses, conditions }) =>
      definedOnly({ addresses, conditions }),
    ),
  };
}

/** Returns the Service of a slice as `namespace/name`. */
export function serviceKey({ metadata }: EndpointSlice): string {
  return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME_LABEL]}`;
}

type DefinedOnly<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** Returns the object without keys whose value is undefined. */
function definedOnly<T extends object>(value: T): DefinedOnly<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as DefinedOnly<T>;
}
