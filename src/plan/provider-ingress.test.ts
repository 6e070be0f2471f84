import { expect, test } from 'bun:test';
import { parseEdge } from '../api/objects.ts';
import type { ProviderIngress } from './control-plane.ts';
import { isRouteOf } from './provider-ingress.ts';

const HOSTS = { api: 'red.example.test', konnectivity: 'red-konnectivity.example.test' };
const HAPROXY: ProviderIngress = {
  name: 'kmc-red',
  className: 'haproxy',
  annotations: new Map([['haproxy.org/ssl-passthrough', 'true']]),
  hosts: HOSTS,
};
const COMMUNITY = new Map([['haproxy-ingress.github.io/ssl-passthrough', 'true']]);

function isRoute(
  spec: object,
  ingress: Partial<ProviderIngress> = {},
  hosts: { readonly api: string; readonly konnectivity?: string } = HOSTS,
): boolean {
  const edge = parseEdge({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec,
  });
  return isRouteOf(edge, { ...HAPROXY, ...ingress }, hosts, { has: () => true });
}

const EDGE = { driver: 'haproxy', ingress: { className: 'haproxy' } };

test('an Ingress with the hosts, the class and the passthrough annotation is the route', () => {
  expect(isRoute(EDGE)).toBe(true);
  // The other annotations of the driver are settings.
  expect(isRoute({ ...EDGE, driver: 'haproxy-ingress' }, { annotations: COMMUNITY })).toBe(true);
  expect(isRoute(EDGE, {}, { api: HOSTS.api })).toBe(true);
});

test.each([
  ['another API host', EDGE, { hosts: { ...HOSTS, api: 'other.example.test' } }],
  ['no konnectivity host', EDGE, { hosts: { api: HOSTS.api } }],
  ['another class', EDGE, { className: 'nginx' }],
  ['no class', EDGE, { className: undefined }],
  ['the annotation of another controller', EDGE, { annotations: COMMUNITY }],
  ['no annotation', EDGE, { annotations: new Map<string, string>() }],
])('an Ingress with %s is not', (_, edge, ingress) => {
  expect(isRoute(edge, ingress)).toBe(false);
});

test.each([
  ['that names no class', { driver: 'haproxy' }],
  ['of a controller without Ingresses', { driver: 'traefik' }],
  ["of Snicket's gateway", { driver: 'snicket' }],
  ['without annotations', { driver: 'ingress', ingress: { className: 'haproxy' } }],
])('no Ingress is the route of an Edge %s', (_, edge) => {
  expect(isRoute(edge)).toBe(false);
});

test('the annotations of driver ingress are those of its Edge', () => {
  const annotations = { 'example.test/passthrough': 'yes' };
  const edge = { driver: 'ingress', ingress: { className: 'haproxy', annotations } };

  expect(isRoute(edge)).toBe(false);
  expect(isRoute(edge, { annotations: new Map(Object.entries(annotations)) })).toBe(true);
});
