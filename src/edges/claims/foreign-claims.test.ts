import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { ownedBy, ownRoutes } from '../../plan/ownership.ts';
import { exposure } from '../../plan/testing/inputs.ts';
import { driverFor } from '../driver-for.ts';
import { API_HOST, BLUE, edge, KONNECTIVITY_HOST, serving, SPECS } from '../testing/blue.ts';
import { foreignClaims } from './foreign-claims.ts';

const isOurs = ({ metadata }: KubeObject) => metadata.namespace === BLUE.namespace;

function claimsOn(spec: object, ...objects: readonly KubeObject[]) {
  return foreignClaims([API_HOST, KONNECTIVITY_HOST], objects, isOurs, edge(spec));
}

function object(apiVersion: string, kind: string, spec: object, annotations = {}): KubeObject {
  const foreign: KubeObject & { spec: object } = {
    apiVersion,
    kind,
    metadata: { name: 'foreign', namespace: 'elsewhere', annotations },
    spec,
  };
  return foreign;
}

const ingress = (host: string, className?: string) =>
  object('networking.k8s.io/v1', 'Ingress', {
    ...(className === undefined ? {} : { ingressClassName: className }),
    rules: [{ host }],
  });
const tlsRoute = (host: string, parent: object) =>
  object('gateway.networking.k8s.io/v1', 'TLSRoute', { hostnames: [host], parentRefs: [parent] });
const ingressRouteTcp = (match: string, change: object = {}) =>
  object('traefik.io/v1alpha1', 'IngressRouteTCP', { routes: [{ match, ...change }] });
const httpProxy = (fqdn: string) =>
  object('projectcontour.io/v1', 'HTTPProxy', { virtualhost: { fqdn } });

const SHARED = { namespace: 'edge', name: 'shared', sectionName: 'tls' };
const WILDCARD = '*.k8s.example.net';

test('own objects are not foreign', () => {
  for (const spec of Object.values(SPECS)) {
    const routes = driverFor(spec.driver).objects(BLUE, edge(spec), serving());

    expect(claimsOn(spec, ...routes)).toEqual([]);
  }
});

test('an object that only has the labels of Snicket is foreign', () => {
  const blue = exposure();
  const [route] = ownedBy(blue, driverFor('haproxy').objects(BLUE, edge(SPECS.haproxy), serving()));
  const forged = (metadata: object) => ({
    ...route!,
    metadata: { ...route!.metadata, ...metadata },
  });
  const objects = [route!, forged({ namespace: 'elsewhere' }), forged({ name: 'shop' })];

  const found = foreignClaims([API_HOST], objects, ownRoutes(blue, [route!]), edge(SPECS.haproxy));

  expect(found.map(({ message }) => message.split(',')[0])).toEqual([
    `Host ${API_HOST} is also claimed by Ingress elsewhere/snicket-blue.haproxy`,
    `Host ${API_HOST} is also claimed by Ingress tenants/shop`,
  ]);
});

test('claims of other hosts are ignored', () => {
  expect(claimsOn(SPECS.haproxy, ingress('green.k8s.example.net', 'haproxy'))).toEqual([]);
});

test('an object that is being deleted claims nothing', () => {
  const foreign = ingress(API_HOST, 'haproxy');
  const deletionTimestamp = '2026-11-16T12:00:00Z';
  const deleted = { ...foreign, metadata: { ...foreign.metadata, deletionTimestamp } };

  expect(claimsOn(SPECS.haproxy, deleted)).toEqual([]);
});

describe('a claim of the same host on the same edge is an error that says which object is served', () => {
  const ofNginx = object('k8s.nginx.org/v1', 'TransportServer', {
    ingressClassName: 'nginx-inc',
    host: API_HOST,
  });

  test.each<[string, object, KubeObject, string]>([
    ['haproxy', SPECS.haproxy, ingress(API_HOST, 'haproxy'), 'this edge serves the newer one'],
    [
      'haproxy-ingress',
      SPECS['haproxy-ingress'],
      ingress(API_HOST, 'haproxy-community'),
      'this edge serves the older one',
    ],
    ['nginx', SPECS.nginx, ingress(API_HOST, 'nginx'), 'this edge serves the older one'],
    ['nginx-inc', SPECS['nginx-inc'], ofNginx, 'this edge serves the older one'],
    [
      'traefik',
      SPECS.traefik,
      ingressRouteTcp(`HostSNI(\`${API_HOST}\`)`),
      'this edge serves an unpredictable one of them',
    ],
    ['contour', SPECS.contour, httpProxy(API_HOST), 'this edge serves neither of them'],
    [
      'gateway-api',
      SPECS['gateway-api'],
      tlsRoute(API_HOST, SHARED),
      'this edge serves the older one',
    ],
    [
      'ingress',
      SPECS.ingress,
      ingress(API_HOST, 'mine'),
      'it is unknown which of them this edge serves',
    ],
  ])('%s', (_driver, spec, foreign, outcome) => {
    expect(claimsOn(spec, foreign)).toEqual([
      {
        code: 'HostClaimed',
        severity: 'error',
        message: `Host ${API_HOST} is also claimed by ${foreign.kind} elsewhere/foreign, and ${outcome}.`,
        action: 'Delete that claim, or choose another host.',
      },
    ]);
  });
});

test('each claimed host is reported, once per object', () => {
  const sharedIngress = object('networking.k8s.io/v1', 'Ingress', {
    ingressClassName: 'haproxy',
    rules: [{ host: API_HOST }, { host: KONNECTIVITY_HOST }],
    tls: [{ hosts: [WILDCARD, API_HOST] }],
  });

  const found = claimsOn(SPECS.haproxy, sharedIngress);

  expect(found.map(({ message }) => message.split(' ')[1])).toEqual([API_HOST, KONNECTIVITY_HOST]);
});

describe('a wildcard', () => {
  test('takes precedence over an exact host on haproxy', () => {
    expect(claimsOn(SPECS.haproxy, ingress(WILDCARD, 'haproxy'))).toMatchObject([
      {
        severity: 'error',
        message: `Host ${API_HOST} is covered by ${WILDCARD} of Ingress elsewhere/foreign, which this edge matches first.`,
      },
    ]);
  });

  test.each<[string, object, KubeObject]>([
    ['haproxy-ingress', SPECS['haproxy-ingress'], ingress(WILDCARD, 'haproxy-community')],
    ['gateway-api', SPECS['gateway-api'], tlsRoute(WILDCARD, SHARED)],
    ['contour', SPECS.contour, httpProxy(WILDCARD)],
    ['traefik', SPECS.traefik, ingressRouteTcp(`HostSNI(\`${WILDCARD}\`)`)],
  ])('gets unmatched connections on %s', (_driver, spec, foreign) => {
    expect(claimsOn(spec, foreign)).toMatchObject([
      {
        severity: 'warning',
        message: `Host ${API_HOST} is covered by ${WILDCARD} of ${foreign.kind} elsewhere/foreign, which receives its connections while the route does not exist.`,
      },
    ]);
  });

  test('covers one label of an Ingress, and several of a TLSRoute', () => {
    expect(claimsOn(SPECS.haproxy, ingress('*.example.net', 'haproxy'))).toEqual([]);
    expect(claimsOn(SPECS['gateway-api'], tlsRoute('*.example.net', SHARED))).toHaveLength(2);
  });
});

describe('on Traefik the longer rule or the higher priority takes precedence', () => {
  const ownRule = `HostSNI(\`${API_HOST}\`)`;

  test.each<[string, KubeObject, string | undefined]>([
    ['a rule for all', ingressRouteTcp('HostSNI(`*`)'), undefined],
    [
      'a catch-all rule with a priority',
      ingressRouteTcp('HostSNI(`*`)', { priority: 1000 }),
      'error',
    ],
    [
      'a wildcard with a priority',
      ingressRouteTcp(`HostSNI(\`${WILDCARD}\`)`, { priority: 1000 }),
      'error',
    ],
    ['a longer rule', ingressRouteTcp(`${ownRule} && ALPN(\`h2\`)`), 'error'],
    ['the same rule with a low priority', ingressRouteTcp(ownRule, { priority: 1 }), 'warning'],
    [
      'a regular expression that may match',
      ingressRouteTcp('HostSNIRegexp(`^.+\\.example\\.net$`)'),
      'warning',
    ],
    [
      'a regular expression that cannot match',
      ingressRouteTcp('HostSNIRegexp(`^.+\\.example\\.org$`)'),
      undefined,
    ],
  ])('%s', (_, foreign, severity) => {
    const found = claimsOn(SPECS.traefik, foreign).find(({ message }) =>
      message.startsWith(`Host ${API_HOST}`),
    );

    expect(found?.severity).toBe(severity as 'error' | 'warning');
  });
});

describe('an object on another edge is ignored', () => {
  const shared = { driver: 'haproxy-ingress', ingress: { className: 'haproxy' } };
  const byAnnotation = object(
    'networking.k8s.io/v1',
    'Ingress',
    { rules: [{ host: API_HOST }] },
    { 'kubernetes.io/ingress.class': 'nginx' },
  );
  const otherEntry = object('traefik.io/v1alpha1', 'IngressRouteTCP', {
    entryPoints: ['internal'],
    routes: [{ match: `HostSNI(\`${API_HOST}\`)` }],
  });

  test.each<[string, object, KubeObject]>([
    ['another class', SPECS.haproxy, ingress(API_HOST, 'nginx')],
    ['another class by annotation', SPECS.haproxy, byAnnotation],
    ['a class that no controller serves', shared, ingress(API_HOST, 'unhandled')],
    ['another entry point', SPECS.traefik, otherEntry],
    ['another Gateway', SPECS['gateway-api'], tlsRoute(API_HOST, { ...SHARED, name: 'other' })],
    [
      'a Gateway of its own namespace',
      SPECS['gateway-api'],
      tlsRoute(API_HOST, { name: 'shared' }),
    ],
    ['another listener', SPECS['gateway-api'], tlsRoute(API_HOST, { ...SHARED, sectionName: 'x' })],
    ['a kind that the controller does not serve', SPECS.haproxy, tlsRoute(API_HOST, SHARED)],
    ['an Ingress on Traefik, which evaluates it last', SPECS.traefik, ingress(API_HOST)],
    ["Snicket's gateway, which ignores foreign routes", SPECS.snicket, ingress(API_HOST)],
  ])('%s', (_, spec, foreign) => {
    expect(claimsOn(spec, foreign)).toEqual([]);
  });
});

describe('a claim is a warning if it is unclear which edge serves it', () => {
  test.each<[string, object, KubeObject]>([
    ['an Ingress without a class', SPECS.haproxy, ingress(API_HOST)],
    ['a TLSRoute beside haproxy-ingress', SPECS['haproxy-ingress'], tlsRoute(API_HOST, SHARED)],
    ['a TLSRoute beside Traefik', SPECS.traefik, tlsRoute(API_HOST, SHARED)],
    ['an Ingress beside Contour', SPECS.contour, ingress(API_HOST)],
    ['an Ingress beside a Gateway', SPECS['gateway-api'], ingress(API_HOST, 'nginx')],
  ])('%s', (_, spec, foreign) => {
    expect(claimsOn(spec, foreign)).toEqual([
      {
        code: 'HostClaimed',
        severity: 'warning',
        message: `Host ${API_HOST} is also claimed by ${foreign.kind} elsewhere/foreign (${API_HOST}), which may or may not be on this edge.`,
        action: 'If it is on this edge, delete that claim or choose another host.',
      },
    ]);
  });

  test('a TLSRoute without a listener is attached to all of them', () => {
    const { sectionName: _, ...anyListener } = SHARED;

    expect(claimsOn(SPECS['gateway-api'], tlsRoute(API_HOST, anyListener))).toMatchObject([
      { severity: 'error' },
    ]);
  });
});
