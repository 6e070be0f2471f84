/**
 * What a gateway keeps of the objects that it watches: a management cluster may have thousands.
 */
import { SERVICE_NAME_LABEL } from '../kube/endpoints/endpoint-slice.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { EndpointSlice } from './tenant-routes.ts';

/** What the gateway uses of a TenantRoute. */
export function tenantRoutePart({ apiVersion, kind, metadata, spec }: TenantRoute): TenantRoute {
  const { name, namespace, resourceVersion, uid, creationTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: definedOnly({ name, namespace, resourceVersion, uid, creationTimestamp }),
    spec,
  };
}

/** And of an EndpointSlice. */
export function endpointPart(slice: EndpointSlice): EndpointSlice {
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

/** The Service of a slice, with its namespace. */
export function serviceKey({ metadata }: EndpointSlice): string {
  return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME_LABEL]}`;
}

type DefinedOnly<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** Without the keys that have no value. */
function definedOnly<T extends object>(value: T): DefinedOnly<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as DefinedOnly<T>;
}
