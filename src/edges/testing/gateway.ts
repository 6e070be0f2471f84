/** For tests only: a Gateway that accepts the routes of `tenants/blue`. Tests break it in various ways. */
import type { KubeObject } from '../../kube/object.ts';

/** Returns Gateway `edge/shared` with one listener, whose fields can be overridden. */
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

/** Returns the same Gateway with these listeners. */
export function gatewayWith(listeners: readonly object[], namespace = 'edge'): KubeObject {
  const object: KubeObject & { spec: object } = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'shared', namespace },
    spec: { gatewayClassName: 'example', listeners },
  };
  return object;
}

/** Returns the GatewayClass of that Gateway. */
export function gatewayClass(): KubeObject {
  const object: KubeObject & { spec: object } = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'example' },
    spec: { controllerName: 'example.net/controller' },
  };
  return object;
}
