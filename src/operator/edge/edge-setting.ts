/**
 * Which Edges depend on an IngressClass, a Gateway or a GatewayClass.
 */
import type { Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';

/** Whether an Edge may depend on this IngressClass, Gateway or GatewayClass. */
export function dependsOnSetting(
  { spec }: Edge,
  { kind, metadata }: KubeObject,
  ingressClasses: readonly KubeObject[],
): boolean {
  const { driver, ingress, gatewayApi } = spec;
  if (kind === RESOURCES.ingressClass.kind) {
    if (driver === 'snicket' || driver === 'gateway-api' || driver === 'None') return false;
    const className = ingress?.className;
    // Without a name the default class is used. If no class has the name, the finding lists the existing ones.
    const exists = ingressClasses.some((ingressClass) => ingressClass.metadata.name === className);
    return className === metadata.name || !exists;
  }
  if (driver !== 'gateway-api') return false;
  if (kind === RESOURCES.gatewayClass.kind) return true;
  return (gatewayApi?.parentRefs ?? []).some(
    ({ name, namespace }) => name === metadata.name && namespace === metadata.namespace,
  );
}
