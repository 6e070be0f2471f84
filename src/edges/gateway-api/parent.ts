/**
 * The Gateways that take the TLSRoutes of an Edge.
 */
import type { EdgeSpec } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { numberAt, textAt } from '../../kube/unstructured.ts';

/** The group of the Gateway API. */
export const GATEWAY_GROUP = groupOf(RESOURCES.gateway.apiVersion);

/** A Gateway, or some of its listeners, as an Edge names it. */
export type ParentRef = NonNullable<EdgeSpec['gatewayApi']>['parentRefs'][number];

/** The same as TLSRoutes have it. What an API server would put in is there. */
export function parentReference({ namespace, name, sectionName, port }: ParentRef): object {
  return {
    group: GATEWAY_GROUP,
    kind: RESOURCES.gateway.kind,
    namespace,
    name,
    ...(sectionName === undefined ? {} : { sectionName }),
    ...(port === undefined ? {} : { port }),
  };
}

/** Whether a reference that a route in this namespace has leads to the same Gateway. */
export function isSameGateway(reference: unknown, parent: ParentRef, namespace: string): boolean {
  return (
    (textAt(reference, 'group') ?? GATEWAY_GROUP) === GATEWAY_GROUP &&
    (textAt(reference, 'kind') ?? RESOURCES.gateway.kind) === RESOURCES.gateway.kind &&
    textAt(reference, 'name') === parent.name &&
    (textAt(reference, 'namespace') ?? namespace) === parent.namespace
  );
}

/** Whether it leads to the same listeners of the same Gateway. */
export function isSameParent(reference: unknown, parent: ParentRef, namespace: string): boolean {
  return (
    isSameGateway(reference, parent, namespace) &&
    textAt(reference, 'sectionName') === parent.sectionName &&
    numberAt(reference, 'port') === parent.port
  );
}

/** Whether both could lead to the same listener: what one does not say may be anything. */
export function mayShareListener(
  reference: unknown,
  parent: ParentRef,
  namespace: string,
): boolean {
  const section = textAt(reference, 'sectionName') ?? parent.sectionName;
  const port = numberAt(reference, 'port') ?? parent.port;
  return (
    isSameGateway(reference, parent, namespace) &&
    section === (parent.sectionName ?? section) &&
    port === (parent.port ?? port)
  );
}

/** The Gateway. */
export function gatewayOf(
  parent: ParentRef,
  gateways: readonly KubeObject[],
): KubeObject | undefined {
  return gateways.find(
    ({ metadata }) => metadata.name === parent.name && metadata.namespace === parent.namespace,
  );
}

/** The class of a Gateway. */
export function gatewayClassOf(
  gateway: KubeObject | undefined,
  classes: readonly KubeObject[],
): KubeObject | undefined {
  const name = textAt(gateway, 'spec', 'gatewayClassName');
  return classes.find(({ metadata }) => metadata.name === name);
}
