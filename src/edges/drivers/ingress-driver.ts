/**
 * Drivers for controllers that are configured by an Ingress with annotations. One Ingress has all routes of an
 * Exposure.
 */
import type { EdgeSpec } from '../../api/edge.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Route } from '../route.ts';
import { admitted, untold } from '../admission.ts';
import type { EdgeDriver, RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn, type DriverRecipe } from '../edge-driver.ts';
import { ingressClassFindings } from '../ingress-class.ts';
import { routeMetadata } from '../names.ts';

/** What differs between these drivers. */
export interface IngressRecipe
  extends
    Pick<DriverRecipe, 'name' | 'pitfalls' | 'collision'>,
    Partial<Pick<DriverRecipe, 'findings'>> {
  /** Annotations of the Ingress that an Edge cannot override. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Annotations of the Ingress that an Edge can override. */
  readonly defaultAnnotations?: Readonly<Record<string, string>>;
}

/** Returns a driver. */
export function ingressDriver(recipe: IngressRecipe): EdgeDriver {
  return edgeDriver({
    ...recipe,
    requires: [RESOURCES.ingress],
    reads: [RESOURCES.ingressClass],
    install: 'a Kubernetes of version 1.19 or later',

    objects(routes, { spec: { ingress } }, { apiVersion, kind }) {
      const annotations = {
        ...recipe.defaultAnnotations,
        ...ingress?.annotations,
        ...recipe.annotations,
      };
      const object: RouteObject = {
        apiVersion,
        kind,
        metadata: routeMetadata(routes, `.${recipe.name}`, annotations),
        spec: { ...classOf(ingress), rules: routesIn(routes).map(rule) },
      };
      return [object];
    },

    findings: (routes, context) => [
      ...ingressClassFindings(context),
      ...(recipe.findings?.(routes, context) ?? []),
    ],

    judge(object) {
      const addresses = loadBalancerAddresses(object);
      // Many controllers never set it: some need a flag, and a Service with an address.
      return addresses.length === 0
        ? untold(object, 'see whether a handshake through the edge reaches the tenant')
        : admitted(`the controller serves it at ${addresses.join(', ')}`);
    },

    addresses: (live, { service }) => [
      ...live.flatMap(loadBalancerAddresses),
      ...loadBalancerAddresses(service),
    ],
  });
}

/** Returns the field with the ingress class, if the Edge names one. */
export function classOf(ingress: EdgeSpec['ingress']): { readonly ingressClassName?: string } {
  return ingress?.className === undefined ? {} : { ingressClassName: ingress.className };
}

function rule({ host, service, port }: Route): object {
  // The port number, because a port name in an Ingress has at most 15 characters, and konnectivity-server is longer.
  const backend = { service: { name: service, port: { number: port } } };
  return { host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
}
