/**
 * For tests only: Edges by driver, each with what its controller would have installed, and the object that it gets.
 */
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { objectOf } from './objects.ts';

/** An Edge that can be used. */
export interface LabEdge {
  readonly spec: object;
  /** Of the controller. */
  readonly objects: readonly ApiObject[];
  /** What is written for Exposure `blue`. */
  readonly resource: Resource;
  readonly name: string;
  /** Spoils it. */
  readonly damage: object;
}

/** Those of the drivers that write objects; one for each kind of object. */
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
