/**
 * The chart values that put a hosted control plane behind an edge.
 */
import { NO_OWN_PROXY, publicEndpoint, type K0smotronPatch } from '../k0s/patches.ts';
import type { PreparationSpec } from '../preparation/preparation.ts';
import { UNHANDLED_CLASS } from '../preparation/ingress-class.ts';
import { treeOf } from '../preparation/field-path.ts';
import { INGRESS_VALUES, type ChartLayout, type IngressValue } from './layouts.ts';

/** Values of a chart. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** The Service type of the control plane. Without it, the control plane gets a load balancer. */
const SERVICE_TYPE = 'ClusterIP';

/** Returns the values for one tenant. */
export function valuesFor(layout: ChartLayout, spec: PreparationSpec): ChartValues {
  const all = ingressValues(spec);
  const ingress = INGRESS_VALUES.filter((name) => isValueSet(name, layout)).map(
    (name) => [[...layout.path, name], all[name]] as const,
  );
  const { serviceType } = layout;
  return treeOf([
    ...ingress,
    ...(serviceType === undefined ? [] : [[serviceType, SERVICE_TYPE] as const]),
  ]);
}

/** Reports whether Snicket sets a value. A chart that can omit the Ingress needs no class for it. */
function isValueSet(name: IngressValue, { values }: ChartLayout): boolean {
  return values.has(name) && (name !== 'className' || !values.has('deploy'));
}

/** Returns values for a chart of a user, which should render them into the K0smotronControlPlane, including patches. */
export function customValues(spec: PreparationSpec): ChartValues {
  const { className: _, ...ingress } = ingressValues(spec);
  const { hosts, port } = spec;
  const patches: readonly K0smotronPatch[] = [NO_OWN_PROXY, publicEndpoint(hosts.api, port)];
  const service = { type: SERVICE_TYPE };
  return { ingress, k0smotron: { service, externalAddress: hosts.api, patches } };
}

function ingressValues({
  hosts,
  port,
}: PreparationSpec): Readonly<Record<IngressValue, string | number | boolean>> {
  return {
    enabled: true,
    deploy: false,
    apiHost: hosts.api,
    konnectivityHost: hosts.konnectivity ?? `konnectivity.${hosts.api}`,
    className: UNHANDLED_CLASS,
    port,
  };
}
