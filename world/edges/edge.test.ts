import { describe, expect, test } from 'bun:test';
import { parse, stringify } from 'yaml';
import { edgeNames, route } from './edge.ts';
import { gateway } from './gateway-api.ts';
import { traefikTlsRoute } from './traefik.ts';

const API = {
  host: 'a.k8s.snicket.test',
  namespace: 'tenant-a',
  service: 'a',
  port: 6443,
};

describe.each(edgeNames)('a route of %s', (name) => {
  const object = route({ name }, API) as {
    apiVersion: string;
    kind: string;
    metadata: { name: string; namespace: string };
  };

  test('is in the namespace of its Service, as the edges require', () => {
    expect(object.metadata.namespace).toBe('tenant-a');
  });

  test('is named after its host, so that each host has its own object', () => {
    const other = route({ name }, { ...API, host: 'a.konnectivity.snicket.test' });

    expect(object.metadata.name).toBe('a.k8s.snicket.test');
    expect(other).toMatchObject({ metadata: { name: 'a.konnectivity.snicket.test' } });
  });

  test('is unchanged when it is written as YAML and parsed again', () => {
    expect(parse(stringify(object))).toEqual(object);
  });
});

test('Traefik gets an IngressRouteTCP with TLS passthrough', () => {
  expect(route({ name: 'traefik' }, API)).toMatchObject({
    kind: 'IngressRouteTCP',
    spec: {
      tls: { passthrough: true },
      routes: [{ match: 'HostSNI(`a.k8s.snicket.test`)', services: [{ name: 'a', port: 6443 }] }],
    },
  });
});

test('haproxy-ingress gets an Ingress with its annotation and the number of the port', () => {
  expect(route({ name: 'haproxy-ingress' }, { ...API, port: 8132 })).toMatchObject({
    kind: 'Ingress',
    metadata: { annotations: { 'haproxy-ingress.github.io/ssl-passthrough': 'true' } },
    spec: {
      ingressClassName: 'haproxy-ingress',
      rules: [
        {
          host: 'a.k8s.snicket.test',
          http: { paths: [{ backend: { service: { name: 'a', port: { number: 8132 } } } }] },
        },
      ],
    },
  });
});

test('Contour gets an HTTPProxy with TLS passthrough', () => {
  expect(route({ name: 'contour' }, API)).toMatchObject({
    kind: 'HTTPProxy',
    spec: {
      virtualhost: { fqdn: 'a.k8s.snicket.test', tls: { passthrough: true } },
      tcpproxy: { services: [{ name: 'a', port: 6443 }] },
    },
  });
});

test.each([
  ['Envoy Gateway', 'envoy-gateway', route({ name: 'envoy-gateway' }, API)],
  ['Traefik', 'traefik', traefikTlsRoute(API)],
])('%s gets a TLSRoute to its own Gateway', (_, gatewayName, object) => {
  expect(object).toMatchObject({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TLSRoute',
    spec: {
      parentRefs: [{ name: gatewayName, namespace: 'edges', sectionName: 'tenants' }],
      hostnames: ['a.k8s.snicket.test'],
      rules: [{ backendRefs: [{ name: 'a', port: 6443 }] }],
    },
  });
});

test('a Gateway accepts TLSRoutes of all namespaces on the port of the edge, with TLS passthrough', () => {
  const [gatewayClass, object] = gateway('some', 'example.com/controller');

  expect(gatewayClass).toMatchObject({
    kind: 'GatewayClass',
    spec: { controllerName: 'example.com/controller' },
  });
  expect(object).toMatchObject({
    metadata: { namespace: 'edges' },
    spec: {
      gatewayClassName: 'some',
      listeners: [
        {
          name: 'tenants',
          port: 443,
          tls: { mode: 'Passthrough' },
          allowedRoutes: { namespaces: { from: 'All' } },
        },
      ],
    },
  });
});
