/**
 * The Gateways that the TLSRoutes of an Edge attach to.
 */
import type { EdgeSpec } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { numberAt, textAt } from '../../kube/unstructured.ts';

/** The API group of the Gateway API. */
export const GATEWAY_GROUP = groupOf(RESOURCES.gateway.apiVersion);

/** A Gateway, or some of its listeners, as an Edge references it. */
export type ParentRef = NonNullable<EdgeSpec['gatewayApi']>['parentRefs'][number];

/** Returns the parentRef of a TLSRoute, with the defaults that the API server sets. */
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

/** Reports whether a parentRef of a route in this namespace references the same Gateway. */
function isSameGateway(reference: unknown, parent: ParentRef, namespace: string): boolean {
  return (
    (textAt(reference, 'group') ?? GATEWAY_GROUP) === GATEWAY_GROUP &&
    (textAt(reference, 'kind') ?? RESOURCES.gateway.kind) === RESOURCES.gateway.kind &&
    textAt(reference, 'name') === parent.name &&
    (textAt(reference, 'namespace') ?? namespace) === parent.namespace
  );
}

/** Reports whether a parentRef references the same listeners of the same Gateway. */
export function isSameParent(reference: unknown, parent: ParentRef, namespace: string): boolean {
  return (
    isSameGateway(reference, parent, namespace) &&
    textAt(reference, 'sectionName') === parent.sectionName &&
    numberAt(reference, 'port') === parent.port
  );
}

/** Reports whether both may reference the same listener: an absent field matches any value. */
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

/** Returns the Gateway of a parent reference; undefined if it does not exist. */
export function gatewayOf(
  parent: ParentRef,
  gateways: readonly KubeObject[],
): KubeObject | undefined {
  return gateways.find(
    ({ metadata }) => metadata.name === parent.name && metadata.namespace === parent.namespace,
  );
}

/** Returns the GatewayClass of a Gateway; undefined if it does not exist. */
export function gatewayClassOf(
  gateway: KubeObject | undefined,
  classes: readonly KubeObject[],
): KubeObject | undefined {
  const name = textAt(gateway, 'spec', 'gatewayClassName');
  return classes.find(({ metadata }) => metadata.name === name);
}
