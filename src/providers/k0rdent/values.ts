/**
 * The values by which the charts of k0rdent's templates put a hosted control plane behind an edge. Each has its own layout.
 */
import { NO_OWN_PROXY, publicEndpoint, type K0smotronPatch } from '../k0s/patches.ts';
import type { PreparationWish } from '../preparation/preparation.ts';
import { UNHANDLED_CLASS } from '../preparation/ingress-class.ts';

/**
 * The layouts:
 * - `openstack-hosted-cp`: of the templates that come with k0rdent the only one with values for an ingress
 * - `hetzner-hosted-cp`: from version 1 on; makes an Ingress whatever one says, so its class is one that nobody serves
 * - `hetzner-hosted-cp-0`: below version 1; the same, with other names and port 443 always
 * - `custom`: what a chart of one's own should render into the K0smotronControlPlane, patches and all
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

/** The values for one tenant. Port is ignored by `hetzner-hosted-cp-0`, which has 443. */
export function valuesFor(layout: ChartLayout, wish: PreparationWish): ChartValues {
  const { hosts, port } = wish;
  const konnectivityHost = hosts.konnectivity ?? `konnectivity.${hosts.api}`;
  const hostValues = { apiHost: hosts.api, konnectivityHost };
  const withoutRoute = { enabled: true, deploy: false, ...hostValues, port };
  // By default the control plane would buy a load balancer.
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

/** The value with the type of the Service, in the layouts that have one. */
export const SERVICE_TYPE: Readonly<Partial<Record<ChartLayout, readonly string[]>>> = {
  'openstack-hosted-cp': ['k0smotron', 'service', 'type'],
  'hetzner-hosted-cp-0': ['controlPlane', 'service', 'type'],
};

const OPENSTACK = /^openstack-hosted-cp(-|$)/;
const HETZNER = /^hetzner-hosted-cp(?:-(?<major>\d+)-|$)/;

/** The layout of a template, by its name: `openstack-hosted-cp-1-0-40`. Undefined if its chart has no such values. */
export function layoutOfTemplate(template: string): Exclude<ChartLayout, 'custom'> | undefined {
  if (OPENSTACK.test(template)) return 'openstack-hosted-cp';
  const hetzner = HETZNER.exec(template);
  if (hetzner === null) return undefined;
  return hetzner.groups?.['major'] === '0' ? 'hetzner-hosted-cp-0' : 'hetzner-hosted-cp';
}
