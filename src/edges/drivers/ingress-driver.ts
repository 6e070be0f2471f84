/**
 * Drivers for controllers that are configured by an Ingress with annotations. One Ingress has all routes of an
 * Exposure.
 */
import type { EdgeSpec } from '../../api/edge.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Route } from '../route.ts';
import { admitted, statusUnsupported } from '../admission.ts';
import type { EdgeDriver, RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn, type DriverOptions } from '../edge-driver.ts';
import { ingressClassFindings } from '../ingress-class.ts';
import { routeMetadata } from '../names.ts';

/** What differs between these drivers. */
interface IngressDriverOptions
  extends
    Pick<DriverOptions, 'name' | 'pitfalls' | 'collision'>,
    Partial<Pick<DriverOptions, 'findings'>> {
  /** Annotations of the Ingress that an Edge cannot override. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Annotations of the Ingress that an Edge can override. */
  readonly defaultAnnotations?: Readonly<Record<string, string>>;
}

/** Returns a driver. */
export function ingressDriver(options: IngressDriverOptions): EdgeDriver {
  return edgeDriver({
    ...options,
    requires: [RESOURCES.ingress],
    reads: [RESOURCES.ingressClass],
    install: 'a Kubernetes of version 1.19 or later',

    objects(routes, { spec: { ingress } }, { apiVersion, kind }) {
      const annotations = {
        ...options.defaultAnnotations,
        ...ingress?.annotations,
        ...options.annotations,
      };
      const object: RouteObject = {
        apiVersion,
        kind,
        metadata: routeMetadata(routes, `.${options.name}`, annotations),
        spec: { ...classOf(ingress), rules: routesIn(routes).map(rule) },
      };
      return [object];
    },

    findings: (routes, context) => [
      ...ingressClassFindings(context),
      ...(options.findings?.(routes, context) ?? []),
    ],

    admissionFrom(object) {
      const addresses = loadBalancerAddresses(object);
      // Many controllers never set it: some need a flag, and a Service with an address.
      return addresses.length === 0
        ? statusUnsupported(object, 'Check that a handshake through the edge reaches the tenant.')
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
