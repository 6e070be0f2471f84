/** Traefik, configured by one IngressRouteTCP with all routes. Traefik cannot pass TLS through with a plain Ingress. */
import { DEFAULT_ENTRY_POINTS } from '../../api/edge.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { statusUnsupported } from '../admission.ts';
import { hostSniRule } from '../claims/traefik-rule.ts';
import { warning } from '../codes.ts';
import type { RouteObject } from '../driver.ts';
import { edgeDriver, loadBalancerAddresses, routesIn } from '../edge-driver.ts';
import { routeMetadata } from '../names.ts';

/** The driver traefik. */
export const traefik = edgeDriver({
  name: 'traefik',
  requires: [RESOURCES.ingressRouteTcp],
  reads: [],
  install: "Traefik's CRDs",
  // Traefik serves one of two routers with the same host. Tests showed that it may be another one after each
  // configuration update. Traefik evaluates HTTP routers after all TCP routers, so an Ingress or IngressRoute cannot
  // take a host.
  collision: { sameHost: 'either', wildcardWins: false, otherKinds: [RESOURCES.tlsRoute] },
  pitfalls: [
    warning(
      'DuplicateHostAllowed',
      'Of two IngressRouteTCPs with the same host in any namespaces, Traefik serves an unpredictable one, and no status reports it.',
      'Do not let others create IngressRouteTCPs, or restrict hosts with an admission policy.',
    ),
  ],

  objects(routes, { spec }, { apiVersion, kind }) {
    const className = spec.traefik?.ingressClassName;
    const object: RouteObject = {
      apiVersion,
      kind,
      metadata: routeMetadata(
        routes,
        '',
        // Set the class by annotation, because older CRDs of Traefik do not have the field ingressClassName.
        className === undefined ? {} : { 'kubernetes.io/ingress.class': className },
      ),
      spec: {
        entryPoints: spec.traefik?.entryPoints ?? DEFAULT_ENTRY_POINTS,
        routes: routesIn(routes).map(({ host, service, port }) => ({
          match: hostSniRule(host),
          services: [{ name: service, port }],
        })),
        tls: { passthrough: true },
      },
    };
    return [object];
  },

  findings: () => [],
  admissionFrom: (object) =>
    statusUnsupported(object, 'Check that a handshake through the edge reaches the tenant.'),
  addresses: (_live, { service }) => loadBalancerAddresses(service),
});
