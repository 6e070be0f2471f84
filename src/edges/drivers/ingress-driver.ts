/**
 * Controllers that are told by an Ingress and an annotation. One Ingress has all routes of an Exposure.
 */
import type { EdgeSpec } from '../../api/edge.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Route } from '../route.ts';
import { admitted, untold } from '../admission.ts';
import type { EdgeDriver, RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn, type DriverRecipe } from '../edge-driver.ts';
import { ingressClassFindings } from '../ingress-class.ts';
import { routeMetadata } from '../names.ts';

/** What sets one of these controllers apart. */
export interface IngressRecipe
  extends
    Pick<DriverRecipe, 'name' | 'pitfalls' | 'collision'>,
    Partial<Pick<DriverRecipe, 'findings'>> {
  /** What the Ingress has to say; the Edge cannot say otherwise. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the Ingress says unless the Edge says otherwise. */
  readonly defaultAnnotations?: Readonly<Record<string, string>>;
}

/** The driver for one of them. */
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
      // Many never fill it in: it takes a flag, and a Service with an address.
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

/** The class of an object, where the Edge names one. */
export function classOf(ingress: EdgeSpec['ingress']): { readonly ingressClassName?: string } {
  return ingress?.className === undefined ? {} : { ingressClassName: ingress.className };
}

function rule({ host, service, port }: Route): object {
  // By number: here a port's name may have 15 characters, and konnectivity-server has more.
  const backend = { service: { name: service, port: { number: port } } };
  return { host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
}
