/**
 * Trims the watched objects of the management cluster to the fields that the operator uses, so that changes of other fields are
 * no events.
 */
import { APPLIED_ANNOTATION } from '../../kube/apply/needs-apply.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Service } from '../../providers/plain.ts';

/** The ports and addresses of a Service, and the fields that show whether Snicket manages it. */
export function trimService({ apiVersion, kind, metadata, spec, status }: Service): Service {
  const { clusterIP, clusterIPs, ports = [] } = spec ?? {};
  const { managedFields: _dropped, annotations, ...kept } = metadata;
  const applied = annotations?.[APPLIED_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      ...kept,
      annotations: applied === undefined ? undefined : { [APPLIED_ANNOTATION]: applied },
    },
    spec: { clusterIP, clusterIPs, ports: ports.map((port) => ({ ...port })) },
    status: status && { loadBalancer: status.loadBalancer },
  };
}

/**
 * A provider's object without the field managers of its status and kubectl's last-applied annotation. A restore needs the other
 * field managers, because it leaves the fields of others alone.
 */
export function trimProviderObject(object: KubeObject): KubeObject {
  const { annotations, managedFields, ...kept } = object.metadata;
  const { [KUBECTL_COPY]: _copy, ...others } = annotations ?? {};
  const writers = managedFields?.filter(({ subresource }) => subresource !== 'status');
  return {
    ...object,
    metadata: {
      ...kept,
      annotations: Object.keys(others).length > 0 ? others : undefined,
      managedFields: writers,
    },
  };
}

const KUBECTL_COPY = 'kubectl.kubernetes.io/last-applied-configuration';

/** The labels and the uid of a namespace. */
export function trimNamespace({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, labels, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, labels, resourceVersion },
  };
}

/** A Gateway without the number of attached routes, which changes with each of Snicket's routes. */
export function trimGateway(object: KubeObject): Gateway {
  const { metadata, status, ...rest } = object as Gateway;
  const { managedFields: _, ...kept } = metadata;
  if (status === undefined) return { ...rest, metadata: kept };
  const listeners = status.listeners?.map(({ attachedRoutes: _count, ...listener }) => listener);
  return { ...rest, metadata: kept, status: { ...status, listeners } };
}

interface Gateway extends KubeObject {
  readonly status?: {
    readonly listeners?: readonly { readonly attachedRoutes?: number }[];
  };
}
