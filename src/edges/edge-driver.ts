/**
 * A driver from what sets it apart from the others.
 */
import type { Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import { groupOf, type Resource } from '../kube/resource.ts';
import type { ExposureRoutes, Route } from './route.ts';
import { admissionOf, refusedBy, type Admission } from './admission.ts';
import { error, type EdgeFinding } from './codes.ts';
import type { EdgeContext, EdgeDriver, RouteObject, ServedApis } from './driver.ts';
import { listAt, textAt } from '../kube/unstructured.ts';

/** All that differs between drivers. */
export interface DriverRecipe extends Pick<
  EdgeDriver,
  'name' | 'requires' | 'reads' | 'pitfalls' | 'collision'
> {
  /** What to install where the kind is not served. */
  readonly install: string;
  /** The objects, of the kind that is served. */
  objects(routes: ExposureRoutes, edge: Edge, resource: Resource): readonly RouteObject[];
  /** Besides that the kind has to be served. */
  findings(routes: ExposureRoutes | undefined, context: EdgeContext): readonly EdgeFinding[];
  /** What the controller says of one object. */
  judge(object: KubeObject, context: EdgeContext): Admission;
  /** What the controller says of its own addresses. */
  addresses(live: readonly KubeObject[], context: EdgeContext): readonly string[];
}

/** The driver. */
export function edgeDriver(recipe: DriverRecipe): EdgeDriver {
  const { name, requires, reads, pitfalls, collision } = recipe;

  function served(apis: ServedApis): Resource | undefined {
    return requires.find((resource) => apis.has(resource));
  }

  function objects(routes: ExposureRoutes, edge: Edge, apis: ServedApis): readonly RouteObject[] {
    const resource = served(apis);
    return resource === undefined ? [] : recipe.objects(routes, edge, resource);
  }

  function findings(
    routes: ExposureRoutes | undefined,
    context: EdgeContext,
  ): readonly EdgeFinding[] {
    return served(context.served) === undefined
      ? [apiMissing(recipe)]
      : recipe.findings(routes, context);
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
      const refusal = refusedBy(findings(routes, context));
      if (refusal !== undefined) return refusal;
      const wanted = objects(routes, context.edge, context.served);
      return admissionOf(wanted, live, (object) => recipe.judge(object, context));
    },

    addresses(live, context) {
      const found = context.edge.spec.addresses ?? recipe.addresses(live, context);
      return [...new Set(found)];
    },
  };
}

/** The routes of an Exposure in a row. */
export function routesIn({ api, konnectivity }: ExposureRoutes): readonly Route[] {
  return konnectivity === undefined ? [api] : [api, konnectivity];
}

/** The addresses in `status.loadBalancer`, as Ingress, HTTPProxy and Service have it. */
export function loadBalancerAddresses(object: KubeObject | undefined): readonly string[] {
  const entries = listAt(object, 'status', 'loadBalancer', 'ingress');
  return entries.flatMap((entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? []);
}

function apiMissing({ name, requires, install }: DriverRecipe): EdgeFinding {
  const [{ apiVersion, kind } = { apiVersion: '', kind: '' }] = requires;
  const versions = requires.map((resource) =>
    resource.apiVersion.slice(groupOf(apiVersion).length + 1),
  );
  return error(
    'EdgeApiMissing',
    `driver ${name} writes ${kind} of ${groupOf(apiVersion)}, and the management cluster does not serve it in ${versions.join(', ')}`,
    `install ${install}, or choose another driver`,
  );
}
