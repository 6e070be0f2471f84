import { EDGE_NAMESPACE, EDGE_PORT, type Route } from './recipe.ts';

/**
 * Returns a GatewayClass and a Gateway of this name. The Gateway accepts TLS for any host name, and routes of all
 * namespaces.
 */
export function gateway(name: string, controllerName: string, parametersRef?: object): object[] {
  return [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name },
      spec: { controllerName, ...(parametersRef ? { parametersRef } : {}) },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name, namespace: EDGE_NAMESPACE },
      spec: {
        gatewayClassName: name,
        listeners: [
          {
            name: 'tenants',
            port: EDGE_PORT,
            protocol: 'TLS',
            tls: { mode: 'Passthrough' },
            allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ kind: 'TLSRoute' }] },
          },
        ],
      },
    },
  ];
}

/** Returns a TLSRoute that attaches to the Gateway of this name. */
export function tlsRoute(gatewayName: string, { host, namespace, service, port }: Route): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TLSRoute',
    metadata: { name: host, namespace },
    spec: {
      parentRefs: [{ name: gatewayName, namespace: EDGE_NAMESPACE, sectionName: 'tenants' }],
      hostnames: [host],
      rules: [{ backendRefs: [{ name: service, port }] }],
    },
  };
}
