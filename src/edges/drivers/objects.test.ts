import { describe, expect, test } from 'bun:test';
import { stringify } from 'yaml';
import { RESOURCES, withVersion } from '../../kube/resource.ts';
import { driverFor, ROUTE_RESOURCES } from '../driver-for.ts';
import { BLUE, edge, serving, SPECS } from '../testing/blue.ts';

function objectsOf(spec: object, routes = BLUE, apis = serving()) {
  const target = edge(spec);
  return driverFor(target.spec.driver).objects(routes, target, apis);
}

/** Returns the objects as YAML. */
function yamlOf(spec: object): string {
  return objectsOf(spec)
    .map((object) => stringify(object))
    .join('---\n');
}

describe('the objects of', () => {
  test('snicket: no objects', () => {
    expect(objectsOf(SPECS.snicket)).toEqual([]);
  });

  test('None: no objects', () => {
    expect(objectsOf(SPECS.None)).toEqual([]);
  });

  test('haproxy: one Ingress', () => {
    expect(yamlOf(SPECS.haproxy)).toMatchInlineSnapshot(`
      "apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata:
        name: snicket-blue.haproxy
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
        annotations:
          haproxy.org/ssl-passthrough: "true"
      spec:
        ingressClassName: haproxy
        rules:
          - host: blue.k8s.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 6443
          - host: blue.konnectivity.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 8132
      "
    `);
  });

  test('haproxy-ingress: one Ingress that keeps idle tunnels', () => {
    expect(yamlOf(SPECS['haproxy-ingress'])).toMatchInlineSnapshot(`
      "apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata:
        name: snicket-blue.haproxy-ingress
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
        annotations:
          haproxy-ingress.github.io/timeout-tunnel: 24h
          haproxy-ingress.github.io/ssl-passthrough: "true"
      spec:
        ingressClassName: haproxy-community
        rules:
          - host: blue.k8s.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 6443
          - host: blue.konnectivity.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 8132
      "
    `);
  });

  test('nginx: one Ingress', () => {
    expect(yamlOf(SPECS.nginx)).toMatchInlineSnapshot(`
      "apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata:
        name: snicket-blue.nginx
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
        annotations:
          nginx.ingress.kubernetes.io/ssl-passthrough: "true"
          nginx.ingress.kubernetes.io/backend-protocol: HTTPS
      spec:
        ingressClassName: nginx
        rules:
          - host: blue.k8s.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 6443
          - host: blue.konnectivity.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 8132
      "
    `);
  });

  test('nginx-inc: a TransportServer for each host', () => {
    expect(yamlOf(SPECS['nginx-inc'])).toMatchInlineSnapshot(`
      "apiVersion: k8s.nginx.org/v1
      kind: TransportServer
      metadata:
        name: snicket-blue-api
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        ingressClassName: nginx-inc
        listener:
          name: tls-passthrough
          protocol: TLS_PASSTHROUGH
        host: blue.k8s.example.net
        upstreams:
          - name: api
            service: blue
            port: 6443
        sessionParameters:
          timeout: 24h
        action:
          pass: api
      ---
      apiVersion: k8s.nginx.org/v1
      kind: TransportServer
      metadata:
        name: snicket-blue-konnectivity
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        ingressClassName: nginx-inc
        listener:
          name: tls-passthrough
          protocol: TLS_PASSTHROUGH
        host: blue.konnectivity.example.net
        upstreams:
          - name: konnectivity
            service: blue
            port: 8132
        sessionParameters:
          timeout: 24h
        action:
          pass: konnectivity
      "
    `);
  });

  test('traefik: one IngressRouteTCP', () => {
    expect(yamlOf(SPECS.traefik)).toMatchInlineSnapshot(`
      "apiVersion: traefik.io/v1alpha1
      kind: IngressRouteTCP
      metadata:
        name: snicket-blue
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        entryPoints:
          - websecure
        routes:
          - match: HostSNI(\`blue.k8s.example.net\`)
            services:
              - name: blue
                port: 6443
          - match: HostSNI(\`blue.konnectivity.example.net\`)
            services:
              - name: blue
                port: 8132
        tls:
          passthrough: true
      "
    `);
  });

  test('contour: an HTTPProxy for each host', () => {
    expect(yamlOf(SPECS.contour)).toMatchInlineSnapshot(`
      "apiVersion: projectcontour.io/v1
      kind: HTTPProxy
      metadata:
        name: snicket-blue-api
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        virtualhost:
          fqdn: blue.k8s.example.net
          tls:
            passthrough: true
        tcpproxy:
          services:
            - name: blue
              port: 6443
      ---
      apiVersion: projectcontour.io/v1
      kind: HTTPProxy
      metadata:
        name: snicket-blue-konnectivity
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        virtualhost:
          fqdn: blue.konnectivity.example.net
          tls:
            passthrough: true
        tcpproxy:
          services:
            - name: blue
              port: 8132
      "
    `);
  });

  test('gateway-api: a TLSRoute for each host', () => {
    expect(yamlOf(SPECS['gateway-api'])).toMatchInlineSnapshot(`
      "apiVersion: gateway.networking.k8s.io/v1
      kind: TLSRoute
      metadata:
        name: snicket-blue-api
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        parentRefs:
          - group: gateway.networking.k8s.io
            kind: Gateway
            namespace: edge
            name: shared
            sectionName: tls
        hostnames:
          - blue.k8s.example.net
        rules:
          - backendRefs:
              - group: ""
                kind: Service
                name: blue
                port: 6443
                weight: 1
      ---
      apiVersion: gateway.networking.k8s.io/v1
      kind: TLSRoute
      metadata:
        name: snicket-blue-konnectivity
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
      spec:
        parentRefs:
          - group: gateway.networking.k8s.io
            kind: Gateway
            namespace: edge
            name: shared
            sectionName: tls
        hostnames:
          - blue.konnectivity.example.net
        rules:
          - backendRefs:
              - group: ""
                kind: Service
                name: blue
                port: 8132
                weight: 1
      "
    `);
  });

  test('ingress: one Ingress with the annotations of the Edge', () => {
    expect(yamlOf(SPECS.ingress)).toMatchInlineSnapshot(`
      "apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata:
        name: snicket-blue.ingress
        namespace: tenants
        labels:
          app.kubernetes.io/managed-by: snicket
          snicket.dev/exposure: blue
        annotations:
          example.net/passthrough: on
      spec:
        ingressClassName: mine
        rules:
          - host: blue.k8s.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 6443
          - host: blue.konnectivity.example.net
            http:
              paths:
                - path: /
                  pathType: Prefix
                  backend:
                    service:
                      name: blue
                      port:
                        number: 8132
      "
    `);
  });
});

test('a TLSRoute has the best served version', () => {
  const versionsOf = (...served: string[]) => {
    const apis = serving(...served.map((version) => `gateway.networking.k8s.io/${version}`));
    const versions = objectsOf(SPECS['gateway-api'], BLUE, apis).map(
      ({ apiVersion }) => apiVersion,
    );
    return [...new Set(versions)];
  };

  expect(versionsOf('v1alpha2', 'v1alpha3', 'v1')).toEqual(['gateway.networking.k8s.io/v1']);
  expect(versionsOf('v1alpha2', 'v1alpha3')).toEqual(['gateway.networking.k8s.io/v1alpha3']);
  expect(versionsOf('v1alpha2')).toEqual(['gateway.networking.k8s.io/v1alpha2']);
  expect(versionsOf('v1beta1')).toEqual([]);
});

test('a parent is referenced exactly as in the Edge', () => {
  const parentRefs = [{ namespace: 'edge', name: 'shared', port: 8443 }];

  const [route] = objectsOf({ driver: 'gateway-api', gatewayApi: { parentRefs } });

  expect(route).toMatchObject({
    spec: {
      parentRefs: [
        {
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          namespace: 'edge',
          name: 'shared',
          port: 8443,
        },
      ],
    },
  });
  expect(route?.spec).not.toHaveProperty('parentRefs.0.sectionName');
});

test('an Edge can add annotations and change defaults, but not passthrough', () => {
  const annotations = {
    'haproxy-ingress.github.io/ssl-passthrough': 'false',
    'haproxy-ingress.github.io/timeout-tunnel': '2h',
    'example.net/owner': 'platform',
  };

  const [object] = objectsOf({ driver: 'haproxy-ingress', ingress: { annotations } });

  expect(object?.metadata.annotations).toEqual({
    'haproxy-ingress.github.io/ssl-passthrough': 'true',
    'haproxy-ingress.github.io/timeout-tunnel': '2h',
    'example.net/owner': 'platform',
  });
});

test.each(['nginx-inc', 'contour'] as const)('%s has the annotations of the Edge', (driver) => {
  const annotations = { 'example.net/owner': 'platform' };

  for (const { metadata } of objectsOf({ driver, ingress: { annotations } }))
    expect(metadata.annotations).toEqual(annotations);
});

test('an IngressRouteTCP has the class and the entry points of the Edge', () => {
  const traefik = { entryPoints: ['tenants'], ingressClassName: 'edge' };

  const [object] = objectsOf({ driver: 'traefik', traefik });

  expect(object?.metadata.annotations).toEqual({ 'kubernetes.io/ingress.class': 'edge' });
  expect(object?.spec).toHaveProperty('entryPoints', ['tenants']);
});

test.each(['haproxy', 'nginx-inc', 'contour'] as const)(
  '%s sets no class if the Edge has none',
  (driver) => {
    for (const { spec } of objectsOf({ driver }))
      expect(spec).not.toHaveProperty('ingressClassName');
  },
);

test('all kinds that drivers write are listed, so that they are pruned after a change of the driver', () => {
  const tlsRoutes = ['v1', 'v1alpha3', 'v1alpha2'].map((version) =>
    withVersion(RESOURCES.tlsRoute, version),
  );
  const { ingress, transportServer, ingressRouteTcp, httpProxy } = RESOURCES;

  expect(ROUTE_RESOURCES).toEqual([
    ...[ingress, transportServer, ingressRouteTcp, httpProxy],
    ...tlsRoutes,
  ]);
});
