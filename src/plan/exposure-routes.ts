/**
 * The routes of an Exposure: its hosts, with the ports of the Service in front of its control plane.
 */
import type { Exposure } from '../api/exposure.ts';
import type { Hosts } from '../api/hosts.ts';
import type { ControlPlane, ServicePort } from './control-plane.ts';
import type { Finding } from '../api/finding.ts';
import { fixedService } from './fixed-service.ts';
import type { ExposureRoutes, Route, RouteKind } from '../edges/route.ts';

/** The input of {@link exposureRoutes}. */
interface RoutesInput {
  readonly exposure: Pick<Exposure, 'metadata' | 'spec'>;
  readonly hosts: Hosts;
  readonly controlPlane: ControlPlane;
}

/**
 * Returns the route to the API, and the route to konnectivity if the control plane has it and there is a host for it.
 */
export function exposureRoutes(input: RoutesInput): ExposureRoutes {
  const { name, namespace } = input.exposure.metadata;
  const { hosts } = input;
  const service = serviceOf(input);
  const to = (kind: RouteKind, host: string, { port, portName }: ServicePort): Route => ({
    kind,
    host,
    service: service.name,
    port,
    portName,
  });
  const routes = { name, namespace, api: to('api', hosts.api, service.api) };
  return hosts.konnectivity === undefined || service.konnectivity === undefined
    ? routes
    : { ...routes, konnectivity: to('konnectivity', hosts.konnectivity, service.konnectivity) };
}

/** Returns the findings about these routes. */
export function routesFindings(input: RoutesInput): readonly Finding[] {
  const { name, konnectivity } = serviceOf(input);
  if (konnectivity === undefined || input.hosts.konnectivity !== undefined) return [];
  return [
    {
      code: 'HostMissing',
      severity: 'warning',
      message: `The control plane has konnectivity at port ${konnectivity.port} of Service ${name}, but no host is set for it, so logs, exec and webhooks do not work.`,
      action: 'Set spec.hosts.konnectivity, or spec.domain of the Edge.',
    },
  ];
}

function serviceOf({ exposure: { metadata, spec }, controlPlane }: RoutesInput) {
  const { endpoints } = spec.controlPlane;
  return endpoints === undefined ? controlPlane.service : fixedService(metadata.name, endpoints);
}
