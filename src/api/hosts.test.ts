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

test('makes hosts of the namespace, the name and the domain', () => {
  expect(hostsOf(exposure(), withDomain)).toEqual({
    api: 'tenants-blue.k8s.example.com',
    konnectivity: 'tenants-blue.konnectivity.example.com',
  });
});

test('prefers the hosts that are written, each for itself', () => {
  expect(hostsOf(exposure({ api: 'blue.example.com' }), withDomain)).toEqual({
    api: 'blue.example.com',
    konnectivity: 'tenants-blue.konnectivity.example.com',
  });
  expect(hostsOf(exposure({ konnectivity: 'agents.example.com' }), withDomain)).toEqual({
    api: 'tenants-blue.k8s.example.com',
    konnectivity: 'agents.example.com',
  });
});

test('knows no host of konnectivity if none is written and there is no domain', () => {
  expect(hostsOf(exposure({ api: 'blue.example.net' }), without)).toEqual({
    api: 'blue.example.net',
  });
});

test('gives no host to konnectivity that is not there, written or made', () => {
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
  const both = { ...endpoints, konnectivity: ['10.0.0.5:8132'] };
  expect(hostsOf(blue(written, { type: 'Endpoints', endpoints: both }), withDomain)).toEqual({
    api,
    ...written,
  });
});

test('finds that a host is missing', () => {
  expect(hostsOf(exposure({ konnectivity: 'agents.example.net' }), without)).toEqual({
    code: 'HostMissing',
    severity: 'error',
    message: 'spec.hosts.api is not set, and Edge shared has no domain to make a host from',
    action: 'write spec.hosts.api, or spec.domain of the Edge',
  });
});

test('finds a label that is too long, and says which field mends it', () => {
  const name = 'b'.repeat(56);

  expect(hostsOf(exposure({ api: 'blue.example.net' }, name), withDomain)).toEqual({
    code: 'HostTooLong',
    severity: 'error',
    message: `tenants-${name} in the host tenants-${name}.konnectivity.example.com has 64 characters, and DNS takes 63 between two dots`,
    action: 'write a shorter one as spec.hosts.konnectivity',
  });
});

test('finds a host that is too long as a whole', () => {
  const domain = `${`${'d'.repeat(60)}.`.repeat(3)}${'d'.repeat(50)}`;
  const edge = parseEdge(edgeOf({ driver: 'snicket', domain }));

  expect(hostsOf(exposure(), edge)).toMatchObject({
    code: 'HostTooLong',
    message: expect.stringContaining('has 259 characters, and DNS takes 253'),
    action: 'write a shorter one as spec.hosts.konnectivity',
  });
});

test('finds that a written host equals the one that would be made', () => {
  const api = 'tenants-blue.konnectivity.example.com';

  expect(hostsOf(exposure({ api }), withDomain)).toMatchObject({ code: 'HostsEqual' });
});

test('makes nothing that could not have been written as a host', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  fc.assert(
    fc.property(label, label, fc.domain(), (namespace, name, domain) => {
      const metadata = { name, namespace };

      const hosts = hostsOf(
        { metadata, spec: { hosts: {}, controlPlane: OBJECT } },
        { metadata, spec: { domain: domain.toLowerCase(), allowedNamespaces: { from: 'All' } } },
      );

      if ('code' in hosts) expect(hosts.code).toBe('HostTooLong');
      else for (const made of Object.values(hosts)) expect(host.safeParse(made).success).toBeTrue();
    }),
  );
});

describe('an Edge that does not allow the Exposure', () => {
  const edgeWith = (fields: object) =>
    parseEdge(edgeOf({ driver: 'snicket', domain: 'example.com', ...fields }));

  test('gives no host to a namespace with other labels', () => {
    const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'a' } } };
    const edge = edgeWith({ allowedNamespaces });

    expect(hostsIn(exposure(), edge, { team: 'b' })).toMatchObject({ code: 'NamespaceNotAllowed' });
    expect(hostsIn(exposure(), edge, { team: 'a' })).toMatchObject({
      api: 'tenants-blue.k8s.example.com',
    });
  });

  test.each([{ api: 'blue.example.net' }, { konnectivity: 'example.com' }])(
    'gives no host outside its domain, such as %j',
    (hosts) => {
      expect(hostsOf(exposure(hosts), edgeWith({}))).toMatchObject({
        code: 'HostNotAllowed',
        message: `Edge shared does not allow the host ${Object.values(hosts)[0]}, only *.example.com`,
      });
    },
  );

  test('gives the hosts that allowedHosts covers, and no others', () => {
    const edge = edgeWith({ allowedHosts: ['*.example.net', 'k.example.org'] });
    const hosts = { api: 'a.b.example.net', konnectivity: 'k.example.org' };

    expect(hostsOf(exposure(hosts), edge)).toEqual(hosts);
    expect(hostsOf(exposure({ ...hosts, api: 'example.net' }), edge)).toMatchObject({
      code: 'HostNotAllowed',
    });
    // The hosts that Snicket generates are no exception.
    expect(hostsOf(exposure(), edge)).toMatchObject({ code: 'HostNotAllowed' });
  });

  test('names some of many patterns', () => {
    const allowedHosts = Array.from({ length: 7 }, (_, index) => `*.n${index}.example.com`);

    expect(hostsOf(exposure(), edgeWith({ allowedHosts }))).toMatchObject({
      message: expect.stringMatching(/n4\.example\.com and 2 more$/),
    });
  });
});
