/** A Gateway that takes the routes of `tenants/blue`, for tests to spoil. */
import type { KubeObject } from '../../kube/object.ts';

/** `edge/shared`, with one listener, whose fields may be others. */
export function gateway(listener: object = {}, namespace = 'edge'): KubeObject {
  const fit = {
    name: 'tls',
    port: 443,
    protocol: 'TLS',
    tls: { mode: 'Passthrough' },
    allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ kind: 'TLSRoute' }] },
  };
  return gatewayWith([{ ...fit, ...listener }], namespace);
}

/** The same with these listeners. */
export function gatewayWith(listeners: readonly object[], namespace = 'edge'): KubeObject {
  const object: KubeObject & { spec: object } = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'shared', namespace },
    spec: { gatewayClassName: 'example', listeners },
  };
  return object;
}

/** Its class. */
export function gatewayClass(): KubeObject {
  const object: KubeObject & { spec: object } = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'example' },
    spec: { controllerName: 'example.net/controller' },
  };
  return object;
}
