import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { hostsOf } from './hosts.ts';
import { host } from './values/network-values.ts';
import { parseEdge, parseExposure } from './objects.ts';
import { edgeOf, exposureOf, OBJECT } from './testing/objects.ts';

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
  expect(hostsOf(exposure({ api: 'blue.example.net' }), withDomain)).toEqual({
    api: 'blue.example.net',
    konnectivity: 'tenants-blue.konnectivity.example.com',
  });
  expect(hostsOf(exposure({ konnectivity: 'agents.example.net' }), withDomain)).toEqual({
    api: 'tenants-blue.k8s.example.com',
    konnectivity: 'agents.example.net',
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
  const written = { konnectivity: 'agents.example.net' };
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
        { metadata, spec: { domain: domain.toLowerCase() } },
      );

      if ('code' in hosts) expect(hosts.code).toBe('HostTooLong');
      else for (const made of Object.values(hosts)) expect(host.safeParse(made).success).toBeTrue();
    }),
  );
});

test('gives none on an Edge that is not for the namespace', () => {
  const spec = { driver: 'snicket', domain: 'example.com', allowedNamespaces: ['others'] };

  expect(hostsOf(exposure({ api: 'blue.example.net' }), parseEdge(edgeOf(spec)))).toMatchObject({
    code: 'NamespaceNotAllowed',
  });
});
