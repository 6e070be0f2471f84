/**
 * The condition Routed of an Exposure: whether its Edge serves the routes.
 */
import { driverFor } from '../../edges/driver-for.ts';
import { edgeContext, providerIngress } from '../../management/edge-state.ts';
import type { ManagementContext } from '../../management/management-view.ts';
import type { AppliedExposure } from '../reconcile-exposure.ts';
import { fails, holds, notYet, waits, type ConditionState } from './condition-state.ts';
import type { KnownHop } from './hop-conditions.ts';

/** Whether the Edge serves the routes of a plan, according to its controller or to a probe. */
export function routedState(
  cluster: ManagementContext,
  { observation, plan, routed }: Pick<AppliedExposure, 'observation' | 'plan' | 'routed'>,
  hops: readonly KnownHop[],
): ConditionState {
  const { object: exposure, resolved } = observation;
  const { edge } = resolved;
  const { routes } = plan;
  if (routes === undefined) return notYet('Prepared');
  const fault = [
    ...plan.findings.filter(({ about }) => about === 'routes'),
    ...routed.findings,
  ].find(({ severity }) => severity === 'error');
  if (fault !== undefined) return fails(fault);
  const context = edgeContext(cluster, edge, exposure.metadata.namespace);
  const provided = providerIngress(cluster, routes);
  const live = [
    ...cluster.management.ownedBy(exposure),
    ...(provided === undefined ? [] : [provided]),
  ];
  const admission = driverFor(edge.spec.driver).admitted(routes, live, context);
  const { code, message, action = '' } = admission;
  switch (admission.state) {
    case 'Admitted':
      return holds('Admitted', message);
    case 'Refused':
      return fails({ code, severity: 'error', message, action });
    case 'Pending':
      return waits(code, message);
    case 'Unknown':
      return handshakeState(hops, edge.spec.driver === 'None' ? message : undefined);
  }
}

/** Some controllers never report whether they serve a route. Then a TLS handshake shows it. */
function handshakeState(
  hops: readonly KnownHop[],
  problem = 'The controller does not report whether it serves the routes, and no TLS handshake through the edge has succeeded yet.',
): ConditionState {
  const sni = hops.find(({ name }) => name === 'sni');
  if (sni?.state === 'Pass') {
    return holds('Admitted', 'A TLS handshake through the edge reaches the tenant.');
  }
  return {
    status: 'Unknown',
    reason: 'NoStatus',
    message: sni === undefined ? problem : `${problem} ${sni.message}`,
  };
}
