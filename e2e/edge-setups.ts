/**
 * Edges for the real ingress controllers of a world: the spec of the Edge, and the kind of object that Snicket creates
 * for it.
 */
import type { EdgeName } from '../world/edges/edge.ts';
import { EDGE_NAMESPACE } from '../world/edges/recipe.ts';

/** An Edge for an ingress controller. */
export interface EdgeSetup {
  readonly name: string;
  readonly controller: EdgeName;
  /** The kind of object that configures the controller, as a kubectl resource name. */
  readonly kind: string;
  /** Spec of the Edge. The test adds the address, because none of these controllers reports its own. */
  readonly spec: Readonly<Record<string, unknown>> & { readonly driver: string };
}

/** Traefik, configured by its own kind. */
export const traefikSetup: EdgeSetup = {
  name: 'Traefik by IngressRouteTCP',
  controller: 'traefik',
  kind: 'ingressroutetcps.traefik.io',
  spec: { driver: 'traefik', traefik: { entryPoints: ['tenants'] } },
};

/** Traefik, configured by TLSRoutes. */
export const traefikTlsRouteSetup: EdgeSetup = gatewaySetup('Traefik by TLSRoute', 'traefik');

/** haproxy-ingress. */
export const haproxyIngressSetup: EdgeSetup = {
  name: 'haproxy-ingress',
  controller: 'haproxy-ingress',
  kind: 'ingresses.networking.k8s.io',
  spec: { driver: 'haproxy-ingress', ingress: { className: 'haproxy-ingress' } },
};

/** Envoy Gateway. */
export const envoyGatewaySetup: EdgeSetup = gatewaySetup('Envoy Gateway', 'envoy-gateway');

/** Contour. */
export const contourSetup: EdgeSetup = {
  name: 'Contour',
  controller: 'contour',
  kind: 'httpproxies.projectcontour.io',
  spec: { driver: 'contour' },
};

/** Returns an Edge for the Gateway with the controller's name. */
function gatewaySetup(name: string, controller: EdgeName): EdgeSetup {
  const parent = { namespace: EDGE_NAMESPACE, name: controller, sectionName: 'tenants' };
  return {
    name,
    controller,
    kind: 'tlsroutes.gateway.networking.k8s.io',
    spec: { driver: 'gateway-api', gatewayApi: { parentRefs: [parent] } },
  };
}
