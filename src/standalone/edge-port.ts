/** Checks whether the process listens on the ports that clients dial. */
import { numberAt } from '../kube/unstructured.ts';
import { formatListenAddress, type ListenAddress } from '../net/listen-address.ts';
import type { KubeObject } from '../kube/object.ts';

/**
 * Returns a warning for each Edge whose port has no listener. That may be intended: a NAT or load balancer can map
 * ports.
 */
export function unservedPortWarnings(
  edges: readonly KubeObject[],
  listen: readonly ListenAddress[],
): readonly string[] {
  const places = listen.map(formatListenAddress).join(', ');
  return edges.flatMap((edge) => {
    const port = numberAt(edge, 'spec', 'port');
    if (listen.some((at) => at.port === port)) return [];
    return [
      `no --listen address has the port of Edge ${edge.metadata.name}, ${port} (listening on ${places}): clients and workers dial ${port}, so forward it here with a NAT or load balancer, or set spec.port to the port of a --listen address`,
    ];
  });
}
