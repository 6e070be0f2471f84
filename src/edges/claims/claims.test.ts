import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeObject } from '../../kube/object.ts';
import { claimsOf, covers, type Claim } from './claims.ts';

function object(apiVersion: string, kind: string, spec: unknown): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'y' }, spec } as KubeObject;
}

const exact = (host: string): Claim => ({ host, match: 'exact' });

describe('the claims of', () => {
  test('an Ingress are the hosts of its rules and its TLS section', () => {
    const spec = {
      rules: [{ host: 'A.example' }, { http: { paths: [] } }, { host: '*.b.example' }],
      tls: [{ hosts: ['a.example', 'c.example'] }, { secretName: 'all' }],
    };

    expect(claimsOf(object('networking.k8s.io/v1', 'Ingress', spec))).toEqual([
      exact('a.example'),
      { host: '*.b.example', match: 'label' },
      exact('c.example'),
    ]);
  });

  test.each(['v1', 'v1alpha2', 'v1alpha3'])('a TLSRoute of %s are its hostnames', (version) => {
    const spec = { hostnames: ['a.example', '*.b.example'] };

    expect(claimsOf(object(`gateway.networking.k8s.io/${version}`, 'TLSRoute', spec))).toEqual([
      exact('a.example'),
      { host: '*.b.example', match: 'suffix' },
    ]);
  });

  test('an IngressRouteTCP are the hosts of its rules, with their priority', () => {
    const spec = {
      routes: [
        { match: 'HostSNI(`a.example`) || HostSNI(`*.b.example.`)', priority: 9 },
        { match: 'HostSNIRegexp(`^C.+$`)' },
        { match: 'HostSNI(`*`)' },
        { match: 'ClientIP(`10.0.0.1`)' },
      ],
    };

    expect(claimsOf(object('traefik.io/v1alpha1', 'IngressRouteTCP', spec))).toEqual([
      { host: 'a.example', match: 'exact', priority: 9 },
      { host: '*.b.example', match: 'label', priority: 9 },
      { host: '^C.+$', match: 'regexp', priority: 22 },
      { host: '*', match: 'any', priority: -1 },
    ]);
  });

  test('an HTTPProxy is its fqdn, if it is a root', () => {
    const root = { virtualhost: { fqdn: 'a.example' } };

    expect(claimsOf(object('projectcontour.io/v1', 'HTTPProxy', root))).toEqual([
      exact('a.example'),
    ]);
    expect(claimsOf(object('projectcontour.io/v1', 'HTTPProxy', { routes: [] }))).toEqual([]);
  });

  test('a TransportServer is its host, if it has one', () => {
    const kind = ['k8s.nginx.org/v1', 'TransportServer'] as const;

    expect(claimsOf(object(...kind, { host: 'a.example' }))).toEqual([exact('a.example')]);
    expect(claimsOf(object(...kind, { listener: { name: 'tcp' } }))).toEqual([]);
  });

  test('a kind of the same name in another group are empty', () => {
    expect(
      claimsOf(object('example.net/v1', 'Ingress', { rules: [{ host: 'a.example' }] })),
    ).toEqual([]);
  });

  test('a malformed object never throw', () => {
    const kinds = [
      ['networking.k8s.io/v1', 'Ingress', 'rules'],
      ['networking.k8s.io/v1', 'Ingress', 'tls'],
      ['gateway.networking.k8s.io/v1', 'TLSRoute', 'hostnames'],
      ['traefik.io/v1alpha1', 'IngressRouteTCP', 'routes'],
      ['projectcontour.io/v1', 'HTTPProxy', 'virtualhost'],
      ['k8s.nginx.org/v1', 'TransportServer', 'host'],
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue(), ([version, kind, field], value) => {
        const nonsense = [
          value,
          { [field]: value },
          { [field]: [value] },
          { [field]: [{ match: value, host: value }] },
        ];
        for (const spec of nonsense) expect(claimsOf(object(version, kind, spec))).toBeArray();
      }),
    );
  });
});

test.each<[Claim['match'], string, string, boolean]>([
  ['exact', 'a.example', 'a.example', true],
  ['exact', 'a.example', 'b.a.example', false],
  ['label', '*.example', 'a.example', true],
  ['label', '*.example', 'b.a.example', false],
  ['label', '*.example', 'example', false],
  ['suffix', '*.example', 'a.example', true],
  ['suffix', '*.example', 'b.a.example', true],
  ['suffix', '*.example', 'example', false],
  ['suffix', '*.example', 'anexample', false],
  ['any', '*', 'a.example', true],
  ['regexp', '^.+\\.example$', 'a.example', true],
  ['regexp', '^.+\\.other$', 'a.example', false],
])('%s %s covers %s: %p', (match, claimed, host, expected) => {
  expect(covers({ host: claimed, match }, host)).toBe(expected);
});
