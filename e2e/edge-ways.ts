/**
 * The ways through the real ingress controllers of a world: what an Edge says to take one, and what Snicket writes then.
 */
import type { EdgeName } from '../world/edges/edge.ts';
import { EDGE_NAMESPACE } from '../world/edges/recipe.ts';

/** A way by which tenants are led through an ingress controller. */
export interface EdgeWay {
  readonly name: string;
  readonly controller: EdgeName;
  /** The kind of object that the controller is told by, as kubectl takes it. */
  readonly kind: string;
  /** The spec of the Edge; none of these controllers says what its address is, so that is to be added. */
  readonly spec: Readonly<Record<string, unknown>> & { readonly driver: string };
}

/** Traefik, told by a kind of its own. */
export const traefikWay: EdgeWay = {
  name: 'Traefik by IngressRouteTCP',
  controller: 'traefik',
  kind: 'ingressroutetcps.traefik.io',
  spec: { driver: 'traefik', traefik: { entryPoints: ['tenants'] } },
};

/** Traefik, told by a Gateway's routes. */
export const traefikTlsRouteWay: EdgeWay = gatewayWay('Traefik by TLSRoute', 'traefik');

/** haproxy-ingress. */
export const haproxyIngressWay: EdgeWay = {
  name: 'haproxy-ingress',
  controller: 'haproxy-ingress',
  kind: 'ingresses.networking.k8s.io',
  spec: { driver: 'haproxy-ingress', ingress: { className: 'haproxy-ingress' } },
};

/** Envoy Gateway. */
export const envoyGatewayWay: EdgeWay = gatewayWay('Envoy Gateway', 'envoy-gateway');

/** Contour. */
export const contourWay: EdgeWay = {
  name: 'Contour',
  controller: 'contour',
  kind: 'httpproxies.projectcontour.io',
  spec: { driver: 'contour' },
};

/** By the Gateway that has the controller's name. */
function gatewayWay(name: string, controller: EdgeName): EdgeWay {
  const parent = { namespace: EDGE_NAMESPACE, name: controller, sectionName: 'tenants' };
  return {
    name,
    controller,
    kind: 'tlsroutes.gateway.networking.k8s.io',
    spec: { driver: 'gateway-api', gatewayApi: { parentRefs: [parent] } },
  };
}
