/**
 * What is kept of the objects of the management cluster: no more than is looked at, so that nothing else is a change.
 */
import { APPLIED_ANNOTATION } from '../../kube/apply/needs-apply.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Service } from '../../providers/plain.ts';

/** The ports and addresses of a Service, and what tells whether it is ours. */
export function servicePart({ apiVersion, kind, metadata, spec, status }: Service): Service {
  const { clusterIP, clusterIPs, ports = [] } = spec ?? {};
  const { managedFields: _dropped, annotations, ...kept } = metadata;
  const applied = annotations?.[APPLIED_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      ...kept,
      ...(applied !== undefined && { annotations: { [APPLIED_ANNOTATION]: applied } }),
    },
    spec: {
      ...(clusterIP !== undefined && { clusterIP }),
      ...(clusterIPs !== undefined && { clusterIPs }),
      ports: ports.map((port) => ({ ...port })),
    },
    ...(status?.loadBalancer !== undefined && { status: { loadBalancer: status.loadBalancer } }),
  };
}

/**
 * All of a provider's object but who wrote its status, and the copy of itself that kubectl keeps in it. Who wrote the
 * rest is needed: what others own is theirs when it is put back.
 */
export function providedPart(object: KubeObject): KubeObject {
  const { annotations, managedFields, ...kept } = object.metadata;
  const { [KUBECTL_COPY]: _copy, ...others } = annotations ?? {};
  const writers = managedFields?.filter(({ subresource }) => subresource !== 'status');
  return {
    ...object,
    metadata: {
      ...kept,
      ...(Object.keys(others).length > 0 && { annotations: others }),
      ...(writers !== undefined && { managedFields: writers }),
    },
  };
}

const KUBECTL_COPY = 'kubectl.kubernetes.io/last-applied-configuration';

/** The labels and the uid of a namespace. */
export function namespacePart({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, labels, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(labels !== undefined && { labels }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** All of a Gateway but how many routes its listeners have: each route of ours would change that. */
export function gatewayPart(object: KubeObject): Gateway {
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
