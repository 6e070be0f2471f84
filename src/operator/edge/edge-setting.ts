/**
 * Which Edges a class or a Gateway is for. Both are shared by many and change now and then; who is not concerned is not
 * looked at.
 */
import type { Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';

/** Whether a change of this IngressClass, Gateway or GatewayClass may mean something to an Edge. */
export function isConcerned(
  { spec }: Edge,
  { kind, metadata }: KubeObject,
  ingressClasses: readonly KubeObject[],
): boolean {
  const { driver, ingress, gatewayApi } = spec;
  if (kind === RESOURCES.ingressClass.kind) {
    if (driver === 'snicket' || driver === 'gateway-api') return false;
    const className = ingress?.className;
    // Without a name it is the cluster's default; where there is none of the name, those that there are will be named.
    const isThere = ingressClasses.some((one) => one.metadata.name === className);
    return className === metadata.name || !isThere;
  }
  if (driver !== 'gateway-api') return false;
  if (kind === RESOURCES.gatewayClass.kind) return true;
  return (gatewayApi?.parentRefs ?? []).some(
    ({ name, namespace }) => name === metadata.name && namespace === metadata.namespace,
  );
}
