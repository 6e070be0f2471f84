/**
 * A read-only view of a tenant's cluster: watched, as in the operator, or read once, as in a command.
 */
import type { Selection } from '../../../kube/client/client.ts';
import { selectorText } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Reader } from '../../../kube/client/recent-reads.ts';
import type { ProxyPod } from '../../../probe/hops/proxies.ts';
import { SERVICE_NAME_LABEL, type EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import { KUBERNETES } from '../../../tenant/endpoints/kubernetes-endpoints.ts';
import type { DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';
import { PROXY, PROXY_SELECTOR } from '../../../tenant/proxy-names.ts';

/** The fields of a node that slices need. */
export interface Node extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

/** Lists the objects of one kind. */
interface Lister<T> {
  list(): readonly T[];
}

/** A tenant that is read. */
export interface TenantView {
  /** For objects that are not watched. */
  readonly reader: Reader;
  readonly slices: Lister<EndpointSlice>;
  readonly daemonSets: Lister<DaemonSetWithStatus>;
  /** Absent if slices have no endpoints of nodes. */
  readonly nodes: Lister<Node> | undefined;
  readonly pods: Lister<ProxyPod> | undefined;
  /** Waits until all lists are known. @throws KubeError, or the signal's reason */
  synced(signal: AbortSignal): Promise<void>;
}

/** The objects of each kind that are read. */
export const TENANT_SELECTIONS = {
  slices: {
    namespace: KUBERNETES.namespace,
    labelSelector: `${SERVICE_NAME_LABEL}=${KUBERNETES.name}`,
  },
  daemonSets: { namespace: PROXY.namespace, fieldSelector: `metadata.name=${PROXY.name}` },
  nodes: {},
  pods: {
    namespace: PROXY.namespace,
    labelSelector: selectorText({ matchLabels: PROXY_SELECTOR }),
  },
} as const satisfies Record<string, Selection>;

/** Trims a node to its internal addresses. */
export function internalAddresses({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, resourceVersion } = metadata;
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return {
    apiVersion,
    kind,
    metadata: { name, resourceVersion },
    status: { addresses },
  };
}
