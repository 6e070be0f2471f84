/**
 * For tests only: Edges by driver, each with the objects of its controller, and its route object.
 */
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { objectOf } from './objects.ts';

/** A usable Edge. */
export interface LabEdge {
  readonly spec: object;
  /** The objects of the controller. */
  readonly objects: readonly ApiObject[];
  /** The route object of Exposure `blue`. */
  readonly resource: Resource;
  readonly name: string;
  /** A change that breaks the route object. */
  readonly damage: object;
}

/** Edges of drivers that write objects, one for each kind of object. */
export const LAB_EDGES = {
  haproxy: {
    spec: { driver: 'haproxy', ingress: { className: 'haproxy' } },
    objects: [
      objectOf(
        'IngressClass',
        { name: 'haproxy' },
        { spec: { controller: 'haproxy.org/ingress-controller' } },
      ),
    ],
    resource: RESOURCES.ingress,
    name: 'snicket-blue.haproxy',
    damage: { spec: { rules: [] } },
  },
  traefik: {
    spec: { driver: 'traefik', traefik: { entryPoints: ['websecure'] } },
    objects: [],
    resource: RESOURCES.ingressRouteTcp,
    name: 'snicket-blue',
    damage: { spec: { routes: [] } },
  },
  contour: {
    spec: { driver: 'contour' },
    objects: [],
    resource: RESOURCES.httpProxy,
    name: 'snicket-blue-api',
    damage: { spec: { virtualhost: { fqdn: 'no.example.test' } } },
  },
  'gateway-api': {
    spec: {
      driver: 'gateway-api',
      gatewayApi: { parentRefs: [{ namespace: 'default', name: 'shared', sectionName: 'tls' }] },
    },
    objects: [
      objectOf('GatewayClass', { name: 'some' }, { spec: { controllerName: 'example.test/some' } }),
      objectOf(
        'Gateway',
        { name: 'shared', namespace: 'default' },
        {
          spec: {
            gatewayClassName: 'some',
            listeners: [
              {
                name: 'tls',
                port: 443,
                protocol: 'TLS',
                tls: { mode: 'Passthrough' },
                allowedRoutes: { namespaces: { from: 'All' } },
              },
            ],
          },
        },
      ),
    ],
    resource: RESOURCES.tlsRoute,
    name: 'snicket-blue-api',
    damage: { spec: { hostnames: ['no.example.test'] } },
  },
} as const satisfies Record<string, LabEdge>;
