import { expect, test } from 'bun:test';
import { KONNECTIVITY_HOST, ProbeLab } from '../testing/lab.ts';
import { judgeDns, resolveHost, type Lookup } from './dns.ts';

const HOST = 'a.k8s.test';
const LIMITS = { timeoutMs: 30_000 };

function failing(code: string): Lookup {
  return async () => {
    throw Object.assign(new Error('getaddrinfo'), { code });
  };
}

async function probe(
  lookup: Lookup,
  edge: readonly string[] = ['203.0.113.10'],
  timeoutMs = 30_000,
) {
  return judgeDns(new Map([[HOST, await resolveHost(HOST, lookup, { timeoutMs })]]), edge);
}

test('a host that resolves to the edge passes', async () => {
  const result = await probe(async () => ['203.0.113.10']);

  expect(result).toEqual({
    name: 'dns',
    target: HOST,
    state: 'Pass',
    code: 'Passed',
    message: 'Host a.k8s.test resolves to 203.0.113.10.',
  });
});

test('a host that resolves to one of several addresses of the edge passes', async () => {
  const result = await probe(async () => ['203.0.113.11'], ['203.0.113.10', '203.0.113.11']);

  expect(result.code).toBe('Passed');
});

test('compares addresses in canonical form', async () => {
  const result = await probe(async () => ['2001:db8:0::a'], ['2001:DB8::000A']);

  expect(result.code).toBe('Passed');
});

test('names the addresses that do not belong to the edge', async () => {
  const result = await probe(async () => ['203.0.113.10', '198.51.100.7']);

  expect(result).toMatchObject({
    state: 'Fail',
    code: 'DnsWrongAddress',
    message: 'Host a.k8s.test resolves to 198.51.100.7, but the edge has 203.0.113.10.',
    action:
      'Point the DNS record of a.k8s.test to 203.0.113.10 alone, or correct the addresses of the Edge.',
  });
});

test('other addresses are a warning if the tenant is reachable', () => {
  const resolved = new Map([[HOST, { kind: 'addresses', addresses: ['10.0.0.5'] } as const]]);

  const result = judgeDns(resolved, ['203.0.113.10'], true);

  expect(result).toMatchObject({
    state: 'Pass',
    code: 'DnsMismatch',
    message: 'Host a.k8s.test resolves to 10.0.0.5, but the edge has 203.0.113.10.',
  });
  expect(result.action).toContain(
    'If this is not split-horizon DNS, point the DNS record of a.k8s.test to 203.0.113.10, or correct the addresses of the Edge.',
  );
});

test('that warning does not hide another host without an address', () => {
  const resolved = new Map([
    [HOST, { kind: 'addresses', addresses: ['10.0.0.5'] } as const],
    [KONNECTIVITY_HOST, { kind: 'none' } as const],
  ]);

  expect(judgeDns(resolved, ['203.0.113.10'], true).code).toBe('DnsNoAnswer');
});

test('any address passes if the addresses of the edge are unknown', async () => {
  const result = await probe(async () => ['198.51.100.7'], []);

  expect(result.code).toBe('Passed');
});

test.each<[string, Lookup]>([
  ['does not exist', failing('ENOTFOUND')],
  ['has no address', failing('ENODATA')],
  ['resolves to an empty list', async () => []],
])('a host that %s fails', async (_, lookup) => {
  const result = await probe(lookup);

  expect(result).toMatchObject({
    state: 'Fail',
    code: 'DnsNoAnswer',
    message: 'Host a.k8s.test has no address in DNS.',
    action: 'Add a DNS record for a.k8s.test that points to 203.0.113.10.',
  });
});

test('a failing resolver is reported as such', async () => {
  const result = await probe(failing('EAI_AGAIN'));

  expect(result.code).toBe('DnsResolverFailed');
  expect(result.message).toBe('The resolver failed with EAI_AGAIN for host a.k8s.test.');
});

test('a silent resolver fails after the timeout', async () => {
  const result = await probe(() => Promise.withResolvers<string[]>().promise, [], 10);

  expect(result.code).toBe('DnsResolverFailed');
  expect(result.message).toBe('The resolver did not answer within 10 ms for host a.k8s.test.');
});

test('the message does not depend on the order of addresses', async () => {
  const lookup = await resolveHost(HOST, async () => ['10.0.0.2', '10.0.0.1'], LIMITS);
  const back = await resolveHost(HOST, async () => ['10.0.0.1', '10.0.0.2'], LIMITS);

  expect(lookup).toEqual(back);
});

test('the konnectivity host must resolve to the edge as well', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();
  const lookup = async (host: string) => (host === HOST ? ['127.0.0.1'] : ['198.51.100.7']);

  const hops = await lab.probe({ port, konnectivityHost: KONNECTIVITY_HOST }, { lookup });

  expect(hops.dns.message).toBe(
    'Host a.konnectivity.test resolves to 198.51.100.7, but the edge has 127.0.0.1.',
  );
});
