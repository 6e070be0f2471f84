import { expect, test } from 'bun:test';
import type { Lookup } from '../../probe/hops/dns.ts';
import { checkNames } from './checks.ts';
import type { RequiredName } from './required-names.ts';

const HERE = { kind: 'addresses', addresses: ['203.0.113.10', '2001:db8::10'] } as const;

function nameOf(host: string, to: RequiredName['to'] = HERE): RequiredName {
  return { exposure: 'tenants/blue', edge: 'shared', host, domain: 'example.com', port: 443, to };
}

const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'ok.example.com': ['2001:DB8::10', '203.0.113.10'],
  'half.example.com': ['203.0.113.10'],
  'wrong.example.com': ['203.0.113.10', '198.51.100.7'],
  'lb.example.net': ['192.0.2.1', '192.0.2.2'],
  'some.example.com': ['192.0.2.2', '192.0.2.3'],
};

/** Answers as libc does. */
const lookup: Lookup = async (host) => {
  const found = ANSWERS[host];
  if (found !== undefined) return found;
  throw Object.assign(new Error(host), {
    code: host.startsWith('broken') ? 'EAI_AGAIN' : 'ENOTFOUND',
  });
};

async function stateOf(name: RequiredName): Promise<string | undefined> {
  const [check] = await checkNames([name], { lookup });
  return check && `${check.state} ${check.code}`;
}

test.each([
  ['ok.example.com', 'ok Passed'],
  ['half.example.com', 'ok Passed'],
  ['wrong.example.com', 'wrong DnsWrongAddress'],
  ['missing.example.com', 'missing DnsNoAnswer'],
  ['broken.example.com', 'unknown DnsResolverFailed'],
])('%s is %s', async (host, state) => {
  expect(await stateOf(nameOf(host))).toBe(state);
});

test('a name of a load balancer passes with one common address', async () => {
  const to = { kind: 'name', host: 'lb.example.net' } as const;

  expect(await stateOf(nameOf('some.example.com', to))).toBe('ok Passed');
  expect(await stateOf(nameOf('ok.example.com', to))).toBe('wrong DnsWrongAddress');
  expect(await stateOf(nameOf('missing.example.com', to))).toBe('missing DnsNoAnswer');
});

test('no host passes while the addresses of the Edge are unknown', async () => {
  const unresolvable = { kind: 'name', host: 'gone.example.net' } as const;

  expect(await stateOf({ ...nameOf('ok.example.com'), to: undefined })).toBe(
    'unknown AddressUnknown',
  );
  expect(await stateOf(nameOf('ok.example.com', unresolvable))).toBe('unknown AddressUnknown');
});

test('reports the found addresses and the fix', async () => {
  expect(await checkNames([nameOf('wrong.example.com')], { lookup })).toMatchObject([
    {
      found: ['198.51.100.7', '203.0.113.10'],
      message:
        'Host wrong.example.com resolves to 198.51.100.7, but the edge has 203.0.113.10, 2001:db8::10.',
      action: expect.stringContaining(
        'Point the DNS record of wrong.example.com to 203.0.113.10, 2001:db8::10 alone, or correct the addresses of the Edge.',
      ),
    },
  ]);
});

test('resolves each name once, a few at a time', async () => {
  const resolved: string[] = [];
  let open = 0;
  let most = 0;
  const to = { kind: 'name', host: 'lb.example.net' } as const;
  const names = Array.from({ length: 40 }, (_, at) => nameOf(`n${at}.example.com`, to));

  const checks = await checkNames(names, {
    async lookup(host) {
      resolved.push(host);
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
      return ['192.0.2.1'];
    },
  });

  expect(checks.map(({ name }) => name)).toEqual(names);
  expect(resolved).toHaveLength(41);
  expect(most).toBeLessThanOrEqual(17);
});

test('times out if the resolver does not answer', async () => {
  const silent: Lookup = async () => new Promise(() => {});

  const [check] = await checkNames([nameOf('a.example.com')], { lookup: silent, timeoutMs: 1 });

  expect(check?.message).toBe('The resolver did not answer within 1 ms for host a.example.com.');
});
