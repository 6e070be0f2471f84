import { expect, test } from 'bun:test';
import { entriesOf, recordSets, wildcardEntries } from './entries.ts';
import { HERE, nameOf } from './testing/names.ts';

const THERE = { kind: 'name', host: 'lb.example.net' } as const;

test('returns one entry for each name', () => {
  expect(entriesOf([nameOf('a.k8s.example.com')])).toEqual([
    { name: 'a.k8s.example.com', edge: 'shared', domain: 'example.com', to: HERE },
  ]);
});

test('returns wildcards for derived names, and an entry for each other name', () => {
  const others = ['api.example.com', 'a.b.k8s.example.com', 'a.k8s.example.org', 'k8s.example.com'];

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
