import { EDGE_NAMESPACE, EDGE_PORT, type Route } from './recipe.ts';

/** A GatewayClass and a Gateway, both of this name, that take TLS for any host name from any namespace's routes. */
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

/** A TLSRoute by the Gateway of this name. */
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
