import { expect, test } from 'bun:test';
import type { Lookup } from './dns.ts';
import { withLocalhostNames } from './localhost-names.ts';

const unknown: Lookup = async () => {
  throw Object.assign(new Error('getaddrinfo'), { code: 'DNS_ENOTFOUND' });
};

test.each(['a.k8s.localhost', 'A.K8S.LocalHost', 'a.k8s.localhost.', 'localhost'])(
  'resolves %s to loopback if the resolver does not know it',
  async (host) => {
    expect(await withLocalhostNames(unknown)(host)).toEqual(['127.0.0.1']);
  },
);

test('resolves a name below localhost to loopback if the resolver returns no address', async () => {
  expect(await withLocalhostNames(async () => [])('a.localhost')).toEqual(['127.0.0.1']);
});

test('returns the addresses that the resolver knows', async () => {
  expect(await withLocalhostNames(async () => ['::1'])('a.localhost')).toEqual(['::1']);
});

test.each(['a.k8s.example.test', 'localhost.example.test', 'notlocalhost'])(
  'leaves %s to the resolver',
  async (host) => {
    await expect(withLocalhostNames(unknown)(host)).rejects.toThrow('getaddrinfo');
  },
);

test('does not hide other errors of the resolver', async () => {
  const broken: Lookup = async () => {
    throw new TypeError('not a function');
  };

  await expect(withLocalhostNames(broken)('a.localhost')).rejects.toThrow(TypeError);
});
