import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { hostsOf as hostsIn } from './hosts.ts';
import { host } from './values/network-values.ts';
import { parseEdge, parseExposure } from './objects.ts';
import { edgeOf, exposureOf, OBJECT } from './testing/objects.ts';

function hostsOf(of: Parameters<typeof hostsIn>[0], edge: Parameters<typeof hostsIn>[1]) {
  return hostsIn(of, edge, {});
}

function exposure(hosts: object = {}, name = 'blue') {
  const object = exposureOf({ hosts }, name);
  return parseExposure({ ...object, metadata: { name, namespace: 'tenants' } });
}

const withDomain = parseEdge(edgeOf({ driver: 'snicket', domain: 'example.com' }));
const without = parseEdge(edgeOf({ driver: 'snicket' }));

test('generates hosts from the namespace, the name and the domain', () => {
  expect(hostsOf(exposure(), withDomain)).toEqual({
    api: 'tenants-blue.k8s.example.com',
    konnectivity: 'tenants-blue.konnectivity.example.com',
  });
});

test('prefers each host in the spec to the generated one', () => {
  expect(hostsOf(exposure({ api: 'blue.example.com' }), withDomain)).toEqual({
    api: 'blue.example.com',
    konnectivity: 'tenants-blue.konnectivity.example.com',
  });
  expect(hostsOf(exposure({ konnectivity: 'agents.example.com' }), withDomain)).toEqual({
    api: 'tenants-blue.k8s.example.com',
    konnectivity: 'agents.example.com',
  });
});

test('has no konnectivity host if the spec has none and the Edge has no domain', () => {
  expect(hostsOf(exposure({ api: 'blue.example.net' }), without)).toEqual({
    api: 'blue.example.net',
  });
});

test('has no konnectivity host for a control plane without konnectivity', () => {
  const secrets = { caSecretRef: { name: 'ca' }, kubeconfigSecretRef: { name: 'kubeconfig' } };
  const blue = (hosts: object, given: object) =>
    parseExposure({
      ...exposureOf({ hosts, controlPlane: { ...secrets, ...given } }),
      metadata: { name: 'blue', namespace: 'tenants' },
    });
  const written = { konnectivity: 'agents.example.com' };
  const api = 'tenants-blue.k8s.example.com';

  expect(hostsOf(blue({}, { type: 'Service', service: { name: 'blue' } }), withDomain)).toEqual({
    api,
  });
  expect(
    hostsOf(blue(written, { type: 'Service', service: { name: 'blue' } }), withDomain),
  ).toEqual({ api });
  const endpoints = { api: ['10.0.0.5:6443'] };
  expect(hostsOf(blue(written, { type: 'Endpoints', endpoints }), withDomain)).toEqual({ api });
  const withKonnectivity = { ...endpoints, konnectivity: ['10.0.0.5:8132'] };
  expect(
    hostsOf(blue(written, { type: 'Endpoints', endpoints: withKonnectivity }), withDomain),
  ).toEqual({
    api,
    ...written,
  });
});

test('reports a missing host', () => {
  expect(hostsOf(exposure({ konnectivity: 'agents.example.net' }), without)).toEqual({
    code: 'HostMissing',
    severity: 'error',
    message:
      'Field spec.hosts.api is not set, and Edge shared has no domain to derive a host from.',
    action: 'Set spec.hosts.api, or spec.domain of the Edge.',
  });
});

test('reports a label that is too long, with the field to change', () => {
  const name = 'b'.repeat(56);

  expect(hostsOf(exposure({ api: 'blue.example.net' }, name), withDomain)).toEqual({
    code: 'FieldInvalid',
    severity: 'error',
    message: `Label tenants-${name} in host tenants-${name}.konnectivity.example.com has 64 characters, but DNS allows at most 63.`,
    action: 'Set spec.hosts.konnectivity to a shorter host.',
  });
});

test('reports a host that is too long', () => {
  const domain = `${`${'d'.repeat(60)}.`.repeat(3)}${'d'.repeat(50)}`;
  const edge = parseEdge(edgeOf({ driver: 'snicket', domain }));

  expect(hostsOf(exposure(), edge)).toMatchObject({
    code: 'FieldInvalid',
    message: expect.stringContaining(
      'Host tenants-blue.konnectivity.dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd.dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd.dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd.dddddddddddddddddddddddddddddddddddddddddddddddddd has 259 characters, but DNS allows at most 253.',
    ),
    action: 'Set spec.hosts.konnectivity to a shorter host.',
  });
});

test('reports a host in the spec that equals the generated one', () => {
  const api = 'tenants-blue.konnectivity.example.com';

  expect(hostsOf(exposure({ api }), withDomain)).toMatchObject({ code: 'FieldInvalid' });
});

test('generates only valid hosts', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  fc.assert(
    fc.property(label, label, fc.domain(), (namespace, name, domain) => {
      const metadata = { name, namespace };

      const hosts = hostsOf(
        { metadata, spec: { hosts: {}, controlPlane: OBJECT } },
        { metadata, spec: { domain: domain.toLowerCase(), allowedNamespaces: { from: 'All' } } },
      );

      if ('code' in hosts) expect(hosts.code).toBe('FieldInvalid');
      else for (const made of Object.values(hosts)) expect(host.safeParse(made).success).toBeTrue();
    }),
  );
});

describe('an Edge that does not allow the Exposure', () => {
  const edgeWith = (fields: object) =>
    parseEdge(edgeOf({ driver: 'snicket', domain: 'example.com', ...fields }));

  test('rejects a namespace whose labels do not match', () => {
    const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'a' } } };
    const edge = edgeWith({ allowedNamespaces });

    expect(hostsIn(exposure(), edge, { team: 'b' })).toMatchObject({ code: 'NamespaceNotAllowed' });
    expect(hostsIn(exposure(), edge, { team: 'a' })).toMatchObject({
      api: 'tenants-blue.k8s.example.com',
    });
  });

  test.each([{ api: 'blue.example.net' }, { konnectivity: 'example.com' }])(
    'rejects a host outside its domain, such as %j',
    (hosts) => {
      expect(hostsOf(exposure(hosts), edgeWith({}))).toMatchObject({
        code: 'HostNotAllowed',
        message: `Edge shared does not allow host ${Object.values(hosts)[0]}, only *.example.com.`,
      });
    },
  );

  test('allows exactly the hosts that allowedHosts covers', () => {
    const edge = edgeWith({ allowedHosts: ['*.example.net', 'k.example.org'] });
    const hosts = { api: 'a.b.example.net', konnectivity: 'k.example.org' };

    expect(hostsOf(exposure(hosts), edge)).toEqual(hosts);
    expect(hostsOf(exposure({ ...hosts, api: 'example.net' }), edge)).toMatchObject({
      code: 'HostNotAllowed',
    });
    // The hosts that Snicket generates are no exception.
    expect(hostsOf(exposure(), edge)).toMatchObject({ code: 'HostNotAllowed' });
  });

  test('lists only the first of many patterns', () => {
    const allowedHosts = Array.from({ length: 7 }, (_, index) => `*.n${index}.example.com`);

    expect(hostsOf(exposure(), edgeWith({ allowedHosts }))).toMatchObject({
      message: expect.stringMatching(/n4\.example\.com and 2 more\.$/),
    });
  });
});
