/**
 * The condition Routed of an Exposure: whether its Edge serves the routes.
 */
import { driverFor } from '../../edges/driver-for.ts';
import { edgeContext, providerIngress } from '../../management/edge-state.ts';
import type { ManagementContext } from '../../management/management-view.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { isCurrentRouteOf } from '../../plan/provider-ingress.ts';
import type { AppliedExposure } from '../reconcile-exposure.ts';
import {
  conditionFalse,
  conditionTrue,
  conditionUnknownUntil,
  conditionPending,
  type ConditionState,
} from './condition-state.ts';
import type { KnownHop } from './hop-conditions.ts';

/** Whether the Edge serves the routes of a plan, according to its controller or to a probe. */
export function routedState(
  cluster: ManagementContext,
  {
    observation,
    plan,
    reconciledRoutes,
  }: Pick<AppliedExposure, 'observation' | 'plan' | 'reconciledRoutes'>,
  hops: readonly KnownHop[],
): ConditionState {
  const { object: exposure, resolved } = observation;
  const { edge } = resolved;
  const { routes } = plan;
  if (routes === undefined) return conditionUnknownUntil('Prepared');
  const error = [
    ...plan.findings.filter(({ about }) => about === 'routes'),
    ...reconciledRoutes.findings,
  ].find(({ severity }) => severity === 'error');
  if (error !== undefined) return conditionFalse(error);
  const context = edgeContext(cluster, edge, exposure.metadata.namespace);
  const provided = providerIngress(cluster, routes);
  const hosts = { api: routes.api.host, konnectivity: routes.konnectivity?.host };
  if (provided !== undefined && !isCurrentRouteOf(edge, provided, hosts, context.served)) {
    return conditionPending('NotReconciled', providerIngressOutdated(provided));
  }
  const objects = [
    ...cluster.management.ownedBy(exposure),
    ...(provided === undefined ? [] : [provided]),
  ];
  const admission = driverFor(edge.spec.driver).admitted(routes, objects, context);
  const { code, message, action = '' } = admission;
  switch (admission.state) {
    case 'Admitted':
      return conditionTrue('Admitted', message);
    case 'Refused':
      return conditionFalse({ code, severity: 'error', message, action });
    case 'Pending':
      return conditionPending(code, message);
    case 'Unknown':
      return handshakeState(hops, edge.spec.driver === 'None' ? message : undefined);
  }
}

function providerIngressOutdated(ingress: KubeObject): string {
  return `${objectText(ingress)} differs from the fields of its control plane, which make it the route: its hosts, its class or its annotations for TLS passthrough. Check why its provider has not updated it.`;
}

/** The state if the controller never reports whether it serves a route. Then a TLS handshake decides. */
function handshakeState(
  hops: readonly KnownHop[],
  problem = 'The controller does not report whether it serves the routes, and no TLS handshake through the edge has succeeded yet.',
): ConditionState {
  const sni = hops.find(({ name }) => name === 'sni');
  if (sni?.state === 'Pass') {
    return conditionTrue('Admitted', 'A TLS handshake through the edge reaches the tenant.');
  }
  return {
    status: 'Unknown',
    reason: 'NoStatus',
    message: sni === undefined ? problem : `${problem} ${sni.message}`,
  };
}
