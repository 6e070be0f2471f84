/**
 * The common part of all drivers that write objects.
 */
import type { Finding } from '../api/finding.ts';
import type { Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import { groupOf, type Resource } from '../kube/resource.ts';
import type { ExposureRoutes, Route } from './route.ts';
import { admissionOf, rejectedBy, type Admission } from './admission.ts';
import { error } from './codes.ts';
import type { EdgeContext, EdgeDriver, RouteObject, DiscoveredApis } from './driver.ts';
import { listAt, textAt } from '../kube/unstructured.ts';

/** What differs between drivers. */
export interface DriverOptions extends Pick<
  EdgeDriver,
  'name' | 'requires' | 'reads' | 'pitfalls' | 'collision'
> {
  /** What to install if the API does not serve the kind. */
  readonly install: string;
  /** Returns the objects, in the version that the API serves. */
  objects(routes: ExposureRoutes, edge: Edge, resource: Resource): readonly RouteObject[];
  /** Returns the findings besides a missing API. */
  findings(routes: ExposureRoutes | undefined, context: EdgeContext): readonly Finding[];
  /** Returns the admission of one object by its status. */
  admissionFrom(object: KubeObject, context: EdgeContext): Admission;
  /** Returns the addresses that the controller reports. */
  addresses(live: readonly KubeObject[], context: EdgeContext): readonly string[];
}

/** Returns a driver. */
export function edgeDriver(options: DriverOptions): EdgeDriver {
  const { name, requires, reads, pitfalls, collision } = options;

  function served(apis: DiscoveredApis): Resource | undefined {
    return requires.find((resource) => apis.has(resource));
  }

  function objects(
    routes: ExposureRoutes,
    edge: Edge,
    apis: DiscoveredApis,
  ): readonly RouteObject[] {
    const resource = served(apis);
    return resource === undefined ? [] : options.objects(routes, edge, resource);
  }

  function findings(routes: ExposureRoutes | undefined, context: EdgeContext): readonly Finding[] {
    return served(context.served) === undefined
      ? [apiMissing(options)]
      : options.findings(routes, context);
  }

  return {
    name,
    requires,
    reads,
    pitfalls,
    collision,
    objects,
    findings,

    admitted(routes, live, context) {
      const rejection = rejectedBy(findings(routes, context));
      if (rejection !== undefined) return rejection;
      const desired = objects(routes, context.edge, context.served);
      return admissionOf(desired, live, (object) => options.admissionFrom(object, context));
    },

    addresses(live, context) {
      const found = context.edge.spec.addresses ?? options.addresses(live, context);
      return [...new Set(found)];
    },
  };
}

/** Returns the routes of an Exposure as a list. */
export function routesIn({ api, konnectivity }: ExposureRoutes): readonly Route[] {
  return konnectivity === undefined ? [api] : [api, konnectivity];
}

/** Returns the addresses in `status.loadBalancer` of an Ingress, HTTPProxy or Service. */
export function loadBalancerAddresses(object: KubeObject | undefined): readonly string[] {
  const entries = listAt(object, 'status', 'loadBalancer', 'ingress');
  return entries.flatMap((entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? []);
}

function apiMissing({ name, requires, install }: DriverOptions): Finding {
  const [{ apiVersion, kind } = { apiVersion: '', kind: '' }] = requires;
  const versions = requires.map((resource) =>
    resource.apiVersion.slice(groupOf(apiVersion).length + 1),
  );
  return error(
    'EdgeApiMissing',
    `Driver ${name} requires ${kind} of ${groupOf(apiVersion)}, which the management cluster does not serve in ${versions.join(', ')}.`,
    `Install ${install}, or choose another driver.`,
  );
}
