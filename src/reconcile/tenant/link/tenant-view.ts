/**
 * What there is to see in a tenant's cluster: by watches, as the operator sees it, or once, as a tool does.
 */
import type { Selection } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Reader } from '../../../kube/client/recent-reads.ts';
import type { ProxyPod } from '../../../probe/hops/proxies.ts';
import { SERVICE_NAME_LABEL, type EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import { KUBERNETES } from '../../../tenant/endpoints/kubernetes-endpoints.ts';
import type { DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';
import { PROXY, PROXY_SELECTOR } from '../../../tenant/proxy-names.ts';

/** As much of a node as slices need. */
export interface Node extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

/** The objects of one kind, as far as they are looked at. */
export interface Seen<T> {
  list(): readonly T[];
}

/** A tenant that is looked at. */
export interface TenantView {
  /** For what is not watched. */
  readonly reader: Reader;
  readonly slices: Seen<EndpointSlice>;
  readonly daemonSets: Seen<DaemonSetWithStatus>;
  /** Absent: slices name no nodes. */
  readonly nodes: Seen<Node> | undefined;
  readonly pods: Seen<ProxyPod> | undefined;
  /** Once all of it is known. @throws KubeError, or the signal's reason */
  synced(signal: AbortSignal): Promise<void>;
}

/** Which objects of a kind are looked at. */
export const TENANT_SELECTIONS = {
  slices: {
    namespace: KUBERNETES.namespace,
    labelSelector: `${SERVICE_NAME_LABEL}=${KUBERNETES.name}`,
  },
  daemonSets: { namespace: PROXY.namespace, fieldSelector: `metadata.name=${PROXY.name}` },
  nodes: {},
  pods: {
    namespace: PROXY.namespace,
    labelSelector: Object.entries(PROXY_SELECTOR)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  },
} as const satisfies Record<string, Selection>;

/** The addresses by which other nodes know it; of a node nothing else is looked at. */
export function internalAddresses({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, resourceVersion } = metadata;
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return {
    apiVersion,
    kind,
    metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
    status: { addresses },
  };
}
