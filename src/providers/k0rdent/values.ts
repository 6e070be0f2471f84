/**
 * The chart values that put a hosted control plane behind an edge. Each chart of k0rdent's templates has its own
 * layout.
 */
import { NO_OWN_PROXY, publicEndpoint, type K0smotronPatch } from '../k0s/patches.ts';
import type { PreparationSpec } from '../preparation/preparation.ts';
import { UNHANDLED_CLASS } from '../preparation/ingress-class.ts';

/**
 * The layouts:
 * - `openstack-hosted-cp`: the only template in k0rdent that has values for an ingress
 * - `hetzner-hosted-cp`: from version 1 on; always creates an Ingress, so Snicket sets a class that no controller
 *   handles
 * - `hetzner-hosted-cp-0`: below version 1; the same with other names, and always with port 443
 * - `custom`: what a user's own chart should render into the K0smotronControlPlane, including patches
 */
export const CHART_LAYOUTS = [
  'openstack-hosted-cp',
  'hetzner-hosted-cp',
  'hetzner-hosted-cp-0',
  'custom',
] as const;
/** One of {@link CHART_LAYOUTS}. */
export type ChartLayout = (typeof CHART_LAYOUTS)[number];

/** Values of a chart. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** Returns the values for one tenant. `hetzner-hosted-cp-0` ignores the port and uses 443. */
export function valuesFor(layout: ChartLayout, spec: PreparationSpec): ChartValues {
  const { hosts, port } = spec;
  const konnectivityHost = hosts.konnectivity ?? `konnectivity.${hosts.api}`;
  const hostValues = { apiHost: hosts.api, konnectivityHost };
  const withoutRoute = { enabled: true, deploy: false, ...hostValues, port };
  // By default the control plane would get a load balancer.
  const service = { type: 'ClusterIP' };
  switch (layout) {
    case 'openstack-hosted-cp':
      return { ingress: withoutRoute, k0smotron: { service } };
    case 'hetzner-hosted-cp':
      return {
        ingress: {
          enabled: true,
          ...hostValues,
          className: UNHANDLED_CLASS,
          port,
          annotations: {},
        },
      };
    case 'hetzner-hosted-cp-0':
      return {
        controlPlane: {
          service,
          ingress: { enabled: true, className: UNHANDLED_CLASS, ...hostValues, annotations: {} },
        },
      };
    case 'custom': {
      const patches: readonly K0smotronPatch[] = [NO_OWN_PROXY, publicEndpoint(hosts.api, port)];
      return {
        ingress: withoutRoute,
        k0smotron: { service, externalAddress: hosts.api, patches },
      };
    }
  }
}

/** The path of the value with the Service type, in the layouts that have one. */
export const SERVICE_TYPE: Readonly<Partial<Record<ChartLayout, readonly string[]>>> = {
  'openstack-hosted-cp': ['k0smotron', 'service', 'type'],
  'hetzner-hosted-cp-0': ['controlPlane', 'service', 'type'],
};

const OPENSTACK = /^openstack-hosted-cp(-|$)/;
const HETZNER = /^hetzner-hosted-cp(?:-(?<major>\d+)-|$)/;

/**
 * Returns the layout of a template by its name, such as `openstack-hosted-cp-1-0-40`. Undefined if its chart has no
 * such values.
 */
export function layoutOfTemplate(template: string): Exclude<ChartLayout, 'custom'> | undefined {
  if (OPENSTACK.test(template)) return 'openstack-hosted-cp';
  const hetzner = HETZNER.exec(template);
  if (hetzner === null) return undefined;
  return hetzner.groups?.['major'] === '0' ? 'hetzner-hosted-cp-0' : 'hetzner-hosted-cp';
}
