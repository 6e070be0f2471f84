import { expect, test } from 'bun:test';
import { entriesOf, recordSets, wildcardEntries } from './entries.ts';
import { HERE, nameOf } from './testing/names.ts';

const THERE = { kind: 'name', host: 'lb.example.net' } as const;

test('returns one entry for each name', () => {
  expect(entriesOf([nameOf('a.k8s.example.com')])).toEqual([
    { name: 'a.k8s.example.com', edge: 'shared', domain: 'example.com', port: 443, to: HERE },
  ]);
});

test('returns wildcards for derived names, and an entry for each other name', () => {
  const others = ['api.example.com', 'a.c.k8s.example.com', 'a.k8s.example.org', 'k8s.example.com'];

  const { entries, uncovered } = wildcardEntries(
    [...['a.k8s.example.com', 'a.konnectivity.example.com', 'b.k8s.example.com'], ...others].map(
      (host) => nameOf(host),
    ),
  );

  expect(entries.map(({ name }) => name)).toEqual([
    ...['*.k8s.example.com', '*.konnectivity.example.com'],
    ...others,
  ]);
  expect(uncovered.map(({ host }) => host)).toEqual(others);
});

test('returns one wildcard for hosts with the same parent', () => {
  const hosts = ['kube-api.k0s.example.io', 'konnectivity.k0s.example.io', 'api.k8s.example.com'];

  const { entries, uncovered } = wildcardEntries(hosts.map((host) => nameOf(host)));

  expect(entries.map(({ name }) => name)).toEqual(['*.k0s.example.io', '*.k8s.example.com']);
  expect(uncovered).toEqual([]);
});

test.each([
  ['one host that two Exposures name', ['api.k0s.example.io', 'api.k0s.example.io']],
  ['a whole domain', ['kube-api.example.io', 'konnectivity.example.io']],
])('%s has no wildcard', (_, hosts) => {
  const { entries } = wildcardEntries(hosts.map((host) => nameOf(host)));

  expect(entries.map(({ name }) => name)).toEqual(hosts);
});

test('hosts with the same parent and different Edges share no wildcard', () => {
  const { entries } = wildcardEntries([
    nameOf('a.k0s.example.io'),
    nameOf('b.k0s.example.io', { edge: 'cloud', to: THERE }),
  ]);

  expect(entries.map(({ name }) => name)).toEqual(['a.k0s.example.io', 'b.k0s.example.io']);
});

test('a host above another name has its own entry, because no wildcard answers for it', () => {
  const hosts = ['b.k8s.example.com', 'a.b.k8s.example.com'];

  const { entries, uncovered } = wildcardEntries(hosts.map((host) => nameOf(host)));

  expect(entries.map(({ name }) => name)).toEqual(['*.k8s.example.com', ...hosts]);
  expect(uncovered.map(({ host }) => host)).toEqual(hosts);
});

test('an Edge without a domain has no wildcard', () => {
  const { entries } = wildcardEntries([nameOf('a.k8s.example.com', { domain: undefined })]);

  expect(entries.map(({ name }) => name)).toEqual(['a.k8s.example.com']);
});

test('the second of two Edges with the same domain has entries instead of a wildcard', () => {
  const { entries, uncovered } = wildcardEntries([
    nameOf('a.k8s.example.com'),
    nameOf('b.k8s.example.com', { edge: 'cloud', to: THERE }),
  ]);

  expect(entries.map(({ name, to }) => [name, to])).toEqual([
    ['*.k8s.example.com', HERE],
    ['b.k8s.example.com', THERE],
  ]);
  expect(uncovered.map(({ host }) => host)).toEqual(['b.k8s.example.com']);
});

test('groups records by type', () => {
  const addresses = ['203.0.113.10', '203.0.113.11', '2001:db8::10'];

  expect(recordSets({ to: { kind: 'addresses', addresses } })).toEqual([
    { type: 'A', values: ['203.0.113.10', '203.0.113.11'] },
    { type: 'AAAA', values: ['2001:db8::10'] },
  ]);
  expect(recordSets({ to: THERE })).toEqual([{ type: 'CNAME', values: ['lb.example.net'] }]);
});
