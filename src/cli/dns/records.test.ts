import { describe, expect, test } from 'bun:test';
import { recordsOf, embeddedAddressFindings, type RecordsOptions } from './records.ts';
import { nameOf } from './testing/names.ts';

const LOAD_BALANCER = { kind: 'name', host: 'lb.example.net' } as const;
const HOSTS: RecordsOptions = { format: 'hosts', hasWildcards: false, ttlSeconds: 300, zones: [] };
const BIND: RecordsOptions = { ...HOSTS, format: 'bind' };

test('leaves out a name that would need a CNAME record, with a fix, and prints the others', () => {
  const records = recordsOf(
    [
      nameOf('a.k8s.example.com'),
      nameOf('b.k8s.example.com', { edge: 'cloud', to: LOAD_BALANCER }),
      nameOf('c.k8s.example.com', { edge: 'cloud', to: LOAD_BALANCER }),
    ],
    HOSTS,
  );

  expect(records).toEqual({
    text: '# Edge shared\n203.0.113.10 a.k8s.example.com\n',
    notes: [],
    findings: [
      {
        of: 'Edge cloud',
        code: 'RecordsUnsupported',
        severity: 'error',
        message:
          'The Edge has the name lb.example.net, but in format hosts a name cannot point to a name.',
        action:
          'Set spec.addresses of the Edge to IP addresses, or use one of the formats bind, coredns, windows, infoblox, cloudflare, cloudflared, route53, external-dns.',
      },
    ],
  });
});

test('notes the names that wildcards do not cover', () => {
  const names = [nameOf('a.k8s.example.com'), nameOf('api.example.com')];

  const { text, notes } = recordsOf(names, { ...BIND, hasWildcards: true });

  expect(text).toBe(
    `; Edge shared
*.k8s.example.com. 300 IN A     203.0.113.10
api.example.com.   300 IN A     203.0.113.10
`,
  );
  expect(notes).toEqual(['api.example.com is not covered by a wildcard and has its own records']);
});

test('prints no records if the format does not support them', () => {
  const { text, findings } = recordsOf([nameOf('a.k8s.other.example')], {
    ...BIND,
    format: 'windows',
  });

  expect(text).toBe('');
  expect(findings).toMatchObject([{ of: '--format windows', code: 'RecordsUnsupported' }]);
});

test('a name without a destination has no record', () => {
  expect(recordsOf([{ ...nameOf('a.k8s.example.com'), to: undefined }], BIND).text).toBe('');
});

describe('names that contain their address', () => {
  const domain = '203-0-113-10.sslip.io';

  test('need no record, which one note says', () => {
    const names = ['a.k8s', 'a.konnectivity'].map((part) =>
      nameOf(`${part}.${domain}`, { domain }),
    );

    const records = recordsOf([...names, nameOf('10-0-0-1.nip.io', { to: LOAD_BALANCER })], BIND);

    expect(records).toEqual({
      text: '',
      notes: [
        '*.203-0-113-10.sslip.io needs no record: the address is in the name itself',
        '10-0-0-1.nip.io needs no record: the address is in the name itself',
      ],
      findings: [],
    });
  });

  test('are compared with the addresses of the Edge', () => {
    const names = [
      nameOf(`a.k8s.${domain}`, { domain }),
      nameOf('a.k8s.10.0.0.1.nip.io'),
      nameOf('a.k8s.example.nip.io'),
    ];

    expect(
      embeddedAddressFindings(names).map(({ code, message }) => `${code}: ${message}`),
    ).toEqual([
      'HostMismatch: Host a.k8s.10.0.0.1.nip.io contains the address 10.0.0.1, but Edge shared has 203.0.113.10.',
      'HostMismatch: Host a.k8s.example.nip.io contains no address, but Edge shared has 203.0.113.10.',
    ]);
  });
});
