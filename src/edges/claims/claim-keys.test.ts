import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeObject } from '../../kube/object.ts';
import { claimantsOf, claimKeys, keysCovering } from './claim-keys.ts';
import { claimsOf, covers } from './claims.ts';

function object(apiVersion: string, kind: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'y' }, spec } as KubeObject;
}

const ingress = (...hosts: readonly string[]) =>
  object('networking.k8s.io/v1', 'Ingress', { rules: hosts.map((host) => ({ host })) });
const tlsRoute = (...hostnames: readonly string[]) =>
  object('gateway.networking.k8s.io/v1', 'TLSRoute', { hostnames });
const ingressRouteTcp = (match: string) =>
  object('traefik.io/v1alpha1', 'IngressRouteTCP', { routes: [{ match }] });

test('an object has a key for each of its hosts, and a single key if it may match any host', () => {
  expect(claimKeys(ingress('A.example', '*.b.example', 'a.example'))).toEqual([
    'a.example',
    '*.b.example',
  ]);
  expect(claimKeys(ingressRouteTcp('HostSNI(`*`) || HostSNIRegexp(`^c.+$`)'))).toEqual(['*']);
});

test('the keys for a host are the host itself and every wildcard that covers it', () => {
  expect(keysCovering('a.b.example')).toEqual(['a.b.example', '*.b.example', '*.example', '*']);
});

test('every object that covers a host is found by its keys, once', () => {
  const host = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 2, maxLength: 4 })
    .map((labels) => labels.join('.'));
  const claimed = fc.oneof(
    host,
    host.map((name) => `*.${name}`),
  );
  const claimant = fc.oneof(
    fc.array(claimed, { maxLength: 3 }).map((hosts) => ingress(...hosts)),
    fc.array(claimed, { maxLength: 3 }).map((hosts) => tlsRoute(...hosts)),
    claimed.map((name) => ingressRouteTcp(`HostSNI(\`${name}\`)`)),
    host.map((name) => ingressRouteTcp(`HostSNIRegexp(\`^.*${name.replaceAll('.', '\\.')}$\`)`)),
    fc.constant('HostSNI(`*`)').map(ingressRouteTcp),
  );
  fc.assert(
    fc.property(fc.array(claimant), fc.array(host, { maxLength: 2 }), (objects, hosts) => {
      const byKey = (key: string) => objects.filter((object) => claimKeys(object).includes(key));

      const found = claimantsOf(hosts, byKey);

      const covering = objects.filter((object) =>
        claimsOf(object).some((claim) => hosts.some((name) => covers(claim, name))),
      );
      expect(covering.filter((object) => !found.includes(object))).toEqual([]);
      expect(new Set(found).size).toBe(found.length);
    }),
  );
});
