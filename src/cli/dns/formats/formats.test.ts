import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import type { DnsEntry } from '../entries.ts';
import type { FormatOptions } from './format.ts';
import { FORMAT_NAMES, FORMATS, formatsWith, type FormatName } from './formats.ts';

setDefaultTimeout(240_000);

const OPTIONS: FormatOptions = { ttlSeconds: 300, zones: [] };

const BOTH = { kind: 'addresses', addresses: ['203.0.113.10', '2001:db8::10'] } as const;
const LOAD_BALANCER = { kind: 'name', host: 'lb-1.cloud.example.net' } as const;

function entryOf(name: string, to: DnsEntry['to'] = BOTH, edge = 'shared'): DnsEntry {
  return { name, edge, domain: 'example.com', port: 443, to };
}

const ENTRIES = [
  entryOf('tenants-blue.k8s.example.com'),
  entryOf('tenants-blue.konnectivity.example.com'),
  entryOf('tenants-red.k8s.example.com', LOAD_BALANCER, 'cloud'),
];
const WITHOUT_ALIAS = ENTRIES.slice(0, 2);
const WILDCARD = [entryOf('*.k8s.example.com')];

function textOf(name: FormatName, entries: readonly DnsEntry[], options = OPTIONS): string {
  expect(FORMATS[name].fault?.(entries, options)).toBeUndefined();
  return FORMATS[name].text(entries, options);
}

test('cloudflared rejects the address of the tunnel itself', () => {
  const tunnel = [entryOf('a.example.com', { kind: 'name', host: 'x.cfargotunnel.com' })];

  expect(FORMATS.cloudflared.fault?.(tunnel, OPTIONS)?.message).toBe(
    'a.example.com would point to x.cfargotunnel.com, which is the tunnel itself.',
  );
});

test('bind has absolute names, which $ORIGIN does not change', () => {
  expect(textOf('bind', ENTRIES)).toBe(
    `; Edge shared
tenants-blue.k8s.example.com.          300 IN A     203.0.113.10
tenants-blue.k8s.example.com.          300 IN AAAA  2001:db8::10
tenants-blue.konnectivity.example.com. 300 IN A     203.0.113.10
tenants-blue.konnectivity.example.com. 300 IN AAAA  2001:db8::10
; Edge cloud
tenants-red.k8s.example.com.           300 IN CNAME lb-1.cloud.example.net.
`,
  );
  expect(textOf('bind', WILDCARD)).toContain('\n*.k8s.example.com. 300 IN A     203.0.113.10\n');
});

test('dnsmasq has host-record for a name, and address for a wildcard', () => {
  expect(textOf('dnsmasq', [...WILDCARD, ...WITHOUT_ALIAS])).toBe(
    `# Edge shared
address=/k8s.example.com/203.0.113.10
address=/k8s.example.com/2001:db8::10
host-record=tenants-blue.k8s.example.com,203.0.113.10,300
host-record=tenants-blue.k8s.example.com,2001:db8::10,300
host-record=tenants-blue.konnectivity.example.com,203.0.113.10,300
host-record=tenants-blue.konnectivity.example.com,2001:db8::10,300
`,
  );
});

test('dnsmasq answers a missing address family itself', () => {
  const only = { kind: 'addresses', addresses: ['203.0.113.10'] } as const;

  expect(textOf('dnsmasq', [entryOf('a.example.com', only)])).toBe(
    '# Edge shared\nlocal=/a.example.com/\nhost-record=a.example.com,203.0.113.10,300\n',
  );
});

describe('coredns', () => {
  test('has a template for each type, which matches only its name', () => {
    expect(textOf('coredns', ENTRIES.slice(0, 1))).toBe(
      `# Edge shared
template IN A tenants-blue.k8s.example.com {
    match "^tenants-blue[.]k8s[.]example[.]com[.]$"
    answer "{{ .Name }} 300 IN A 203.0.113.10"
    fallthrough
}
template IN AAAA tenants-blue.k8s.example.com {
    match "^tenants-blue[.]k8s[.]example[.]com[.]$"
    answer "{{ .Name }} 300 IN AAAA 2001:db8::10"
    fallthrough
}
`,
    );
  });

  test('answers a missing address family with no data, so that no resolver answers NXDOMAIN', () => {
    const only = { kind: 'addresses', addresses: ['203.0.113.10'] } as const;

    expect(textOf('coredns', [entryOf('*.k8s.example.com', only)])).toBe(
      `# Edge shared
template IN A k8s.example.com {
    match "^[^.]+[.]k8s[.]example[.]com[.]$"
    answer "{{ .Name }} 300 IN A 203.0.113.10"
    fallthrough
}
template IN AAAA k8s.example.com {
    match "^[^.]+[.]k8s[.]example[.]com[.]$"
    rcode NOERROR
    fallthrough
}
`,
    );
  });

  test('has names before wildcards, because the first template that matches answers', () => {
    const text = textOf('coredns', [...WILDCARD, ...ENTRIES]);

    const zones = [...text.matchAll(/^(?:# Edge|template IN A) (\S+)/gm)].map(([, zone]) => zone);
    expect(zones).toEqual([
      ...['shared', 'tenants-blue.k8s.example.com', 'tenants-blue.konnectivity.example.com'],
      ...['cloud', 'tenants-red.k8s.example.com', 'shared', 'k8s.example.com'],
    ]);
  });

  test('answers both types with the name of a load balancer', () => {
    const text = textOf('coredns', ENTRIES.slice(2));

    const answer = '    answer "{{ .Name }} 300 IN CNAME lb-1.cloud.example.net."\n';
    expect(text.split(answer)).toHaveLength(3);
  });
});

describe('windows', () => {
  test('has names relative to the zone, and a TimeSpan', () => {
    expect(textOf('windows', [...ENTRIES.slice(0, 1), ...ENTRIES.slice(2)])).toBe(
      `# Edge shared
Add-DnsServerResourceRecordA -ZoneName 'example.com' -Name 'tenants-blue.k8s' -IPv4Address '203.0.113.10' -TimeToLive '00:05:00'
Add-DnsServerResourceRecordAAAA -ZoneName 'example.com' -Name 'tenants-blue.k8s' -IPv6Address '2001:db8::10' -TimeToLive '00:05:00'
# Edge cloud
Add-DnsServerResourceRecordCName -ZoneName 'example.com' -Name 'tenants-red.k8s' -HostNameAlias 'lb-1.cloud.example.net.' -TimeToLive '00:05:00'
`,
    );
  });

  test.each([
    ['k8s.example.com', "-ZoneName 'k8s.example.com' -Name 'tenants-blue' "],
    ['tenants-blue.k8s.example.com', "-ZoneName 'tenants-blue.k8s.example.com' -Name '@' "],
    ['other.example', "-ZoneName 'com' -Name 'tenants-blue.k8s.example' "],
  ])('uses the longest zone of com and %s', (zone, part) => {
    const zones = ['com', zone];

    const text = textOf('windows', ENTRIES.slice(0, 1), { ...OPTIONS, zones });

    expect(text).toContain(part);
  });

  test.each([
    [1, '00:00:01'],
    [3661, '01:01:01'],
    [86_400, '1.00:00:00'],
    [2 ** 31 - 1, '24855.03:14:07'],
  ])('prints %d seconds as a TimeSpan', (ttlSeconds, span) => {
    expect(textOf('windows', WILDCARD, { ...OPTIONS, ttlSeconds })).toContain(
      `-TimeToLive '${span}'`,
    );
  });

  test('rejects a name in an unknown zone', () => {
    const lost = [entryOf('a.other.example')];
    const homeless = [{ ...entryOf('a.other.example'), domain: undefined }];

    expect(FORMATS.windows.fault?.(lost, OPTIONS)).toEqual({
      message:
        'Windows requires the zone of a.other.example, but the known zones (example.com) do not contain it.',
      action: 'Set it with --zone.',
    });
    expect(FORMATS.windows.fault?.(homeless, OPTIONS)?.message).toEndWith('no zone is known.');
    expect(textOf('windows', homeless, { ...OPTIONS, zones: ['other.example'] })).toContain(
      "-Name 'a' ",
    );
  });
});

test('infoblox has a header for each type, and names without a trailing dot', () => {
  expect(textOf('infoblox', ENTRIES)).toBe(
    `header-arecord,fqdn*,address*,comment,ttl
arecord,tenants-blue.k8s.example.com,203.0.113.10,snicket Edge shared,300
arecord,tenants-blue.konnectivity.example.com,203.0.113.10,snicket Edge shared,300
header-aaaarecord,fqdn*,address*,comment,ttl
aaaarecord,tenants-blue.k8s.example.com,2001:db8::10,snicket Edge shared,300
aaaarecord,tenants-blue.konnectivity.example.com,2001:db8::10,snicket Edge shared,300
header-cnamerecord,fqdn*,canonical_name,comment,ttl
cnamerecord,tenants-red.k8s.example.com,lb-1.cloud.example.net,snicket Edge cloud,300
`,
  );
});

describe('cloudflare', () => {
  test('is a zone file with import instructions', () => {
    expect(textOf('cloudflare', ENTRIES.slice(2))).toBe(
      `; Import with "Proxy imported DNS records" switched off, or by the API with proxied=false:
; Cloudflare's proxy would end TLS itself.
; Edge cloud
tenants-red.k8s.example.com. 300 IN CNAME lb-1.cloud.example.net.
`,
    );
  });

  test('rejects what Cloudflare rejects', () => {
    const many = Array.from({ length: 4000 }, (_, at) => entryOf(`tenants-${at}.k8s.example.com`));

    expect(FORMATS.cloudflare.fault?.(ENTRIES, { ...OPTIONS, ttlSeconds: 30 })?.message).toBe(
      'Cloudflare accepts a TTL from 60 to 86400, but --ttl is 30.',
    );
    expect(FORMATS.cloudflare.fault?.(many, OPTIONS)?.message).toStartWith(
      'Cloudflare imports at most 262144 bytes at once, but there are 448148.',
    );
  });
});

test('cloudflare requires the proxy for the name of a tunnel', () => {
  const tunnel = { kind: 'name', host: '6ff42ae2.cfargotunnel.com' } as const;

  expect(textOf('cloudflare', [entryOf('*.k8s.example.com', tunnel)])).toBe(
    `; Import with "Proxy imported DNS records" switched on, or by the API with proxied=true:
; Tunnels require Cloudflare's proxy.
; Edge shared
*.k8s.example.com. 300 IN CNAME 6ff42ae2.cfargotunnel.com.
`,
  );
});

test('cloudflared has names before wildcards, and a last rule for all other requests', () => {
  const v6 = { kind: 'addresses', addresses: ['2001:db8::10'] } as const;
  const entries = [...WILDCARD, { ...entryOf('api.example.com', v6), port: 8443 }, ENTRIES[2]!];

  const [head = '', text] = textOf('cloudflared', entries).split('ingress:');

  expect(head).toMatch(/^(?:# .*\n){2}$/);
  expect(text).toBe(`
  - hostname: api.example.com
    service: tcp://[2001:db8::10]:8443
  - hostname: tenants-red.k8s.example.com
    service: tcp://lb-1.cloud.example.net:443
  - hostname: "*.k8s.example.com"
    service: tcp://203.0.113.10:443
  - service: http_status:404
`);
});

describe('route53', () => {
  test('is a change batch', () => {
    expect(JSON.parse(textOf('route53', [...ENTRIES.slice(0, 1), ...ENTRIES.slice(2)]))).toEqual({
      Comment: 'snicket: Edge shared, Edge cloud',
      Changes: [
        change('tenants-blue.k8s.example.com.', 'A', '203.0.113.10'),
        change('tenants-blue.k8s.example.com.', 'AAAA', '2001:db8::10'),
        change('tenants-red.k8s.example.com.', 'CNAME', 'lb-1.cloud.example.net.'),
      ],
    });
  });

  test('has at most as many records as Route 53 accepts', () => {
    const many = Array.from({ length: 251 }, (_, at) => entryOf(`tenants-${at}.k8s.example.com`));

    expect(FORMATS.route53.fault?.(many, OPTIONS)).toEqual({
      message: 'Route 53 accepts 500 records at once, but there are 502.',
      action: 'Name fewer Exposures, or use --wildcard.',
    });
    expect(FORMATS.route53.fault?.(many.slice(1), OPTIONS)).toBeUndefined();
  });

  function change(Name: string, Type: string, Value: string): object {
    const ResourceRecords = [{ Value }];
    return { Action: 'UPSERT', ResourceRecordSet: { Name, Type, TTL: 300, ResourceRecords } };
  }
});

test('external-dns has an object for each Edge', () => {
  expect(textOf('external-dns', [...WILDCARD, ...ENTRIES.slice(2)])).toBe(
    `apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata:
  name: snicket-shared
spec:
  endpoints:
    - dnsName: "*.k8s.example.com"
      recordType: A
      recordTTL: 300
      targets:
        - 203.0.113.10
    - dnsName: "*.k8s.example.com"
      recordType: AAAA
      recordTTL: 300
      targets:
        - 2001:db8::10
---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata:
  name: snicket-cloud
spec:
  endpoints:
    - dnsName: tenants-red.k8s.example.com
      recordType: CNAME
      recordTTL: 300
      targets:
        - lb-1.cloud.example.net
`,
  );
});

test('hosts has an address and a name on each line', () => {
  expect(textOf('hosts', WITHOUT_ALIAS)).toBe(
    `# Edge shared
203.0.113.10 tenants-blue.k8s.example.com
2001:db8::10 tenants-blue.k8s.example.com
203.0.113.10 tenants-blue.konnectivity.example.com
2001:db8::10 tenants-blue.konnectivity.example.com
`,
  );
});

test('lists the formats with an ability', () => {
  expect(formatsWith('hasWildcards').split(', ')).toEqual(
    FORMAT_NAMES.filter((name) => name !== 'hosts'),
  );
});

/** Returns every name and value in a text, read back as the server would. */
const READERS: Readonly<Record<FormatName, (text: string) => readonly string[]>> = {
  bind: zonePairs,
  cloudflare: zonePairs,
  cloudflared: (text) =>
    [...text.matchAll(/hostname: (\S+)\n +service: tcp:\/\/\[?(.+?)\]?:443$/gm)].map(
      ([, name, to]) => pair(name, to),
    ),
  dnsmasq: (text) =>
    [...text.matchAll(/^host-record=([^,]+),([^,]+),300$/gm)].map(([, name, to]) => pair(name, to)),
  coredns: (text) =>
    [
      ...text.matchAll(
        /^template IN A+ (\S+) \{\n {4}match "(\S+)"\n((?: {4}(?:answer|rcode) .*\n)+) {4}fallthrough\n\}$/gm,
      ),
    ].flatMap(([, zone = '', pattern = '', answers = '']) => {
      expect(new RegExp(pattern).test(`${zone}.`)).toBe(true);
      expect(new RegExp(pattern).test(`x${zone}.`)).toBe(false);
      return [...answers.matchAll(/ IN \w+ (\S+)"$/gm)].map(([, to = '']) =>
        pair(zone, to.replace(/\.$/, '')),
      );
    }),
  windows: (text) =>
    [...text.matchAll(/-ZoneName '(.+?)' -Name '(.+?)' -\w+ '(.+?)\.?' -TimeToLive/g)].map(
      ([, zone, name, to]) => pair(`${name}.${zone}`, to),
    ),
  infoblox: (text) =>
    [...text.matchAll(/^(?:a|aaaa|cname)record,([^,]+),([^,]+),/gm)].map(([, name, to]) =>
      pair(name, to),
    ),
  route53: (text) =>
    (
      JSON.parse(text) as {
        Changes: { ResourceRecordSet: { Name: string; ResourceRecords: { Value: string }[] } }[];
      }
    ).Changes.flatMap(({ ResourceRecordSet: { Name, ResourceRecords } }) =>
      ResourceRecords.map(({ Value }) => pair(Name.slice(0, -1), Value.replace(/\.$/, ''))),
    ),
  'external-dns': (text) =>
    parseAllDocuments(text, { version: '1.1' }).flatMap((document) =>
      (
        document.toJS() as { spec: { endpoints: { dnsName: string; targets: string[] }[] } }
      ).spec.endpoints.flatMap(({ dnsName, targets }) => targets.map((to) => pair(dnsName, to))),
    ),
  hosts: (text) =>
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => pair(line.split(' ')[1], line.split(' ')[0])),
};

function zonePairs(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith(';'));
  return lines.map((line) => {
    const [, name, to] = /^(\S+)\. +300 IN (?:A|AAAA|CNAME) +(\S+?)\.?$/.exec(line) ?? [];
    return pair(name, to);
  });
}

function pair(name: string | undefined, to: string | undefined): string {
  return `${name} -> ${to}`;
}

describe('every host and all its destinations are in', () => {
  const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,20}[a-z0-9])?$/);
  const v4 = fc.ipV4();
  const v6 = fc.tuple(fc.nat(0xffff), fc.nat(0xffff)).map(([a, b]) => hexAddress(a, b));
  const addresses = fc.record({
    kind: fc.constant('addresses' as const),
    addresses: fc.uniqueArray(fc.oneof(v4, v6), { minLength: 1, maxLength: 4 }),
  });
  const alias = fc.record({
    kind: fc.constant('name' as const),
    host: fc.tuple(label, label).map((labels) => `${labels.join('.')}.example.net`),
  });

  test.each(FORMAT_NAMES)('%s', (name) => {
    const to = FORMATS[name].hasAliases ? fc.oneof(addresses, alias) : addresses;
    const one = fc.record({
      name: fc.tuple(label, label).map((labels) => `${labels.join('.')}.example.com`),
      edge: fc.constantFrom('shared', 'other'),
      domain: fc.constant('example.com'),
      port: fc.constant(443),
      to,
    });
    const some = fc.uniqueArray(one, {
      minLength: 1,
      maxLength: 8,
      selector: (entry) => entry.name,
    });

    fc.assert(
      fc.property(some, (entries: readonly DnsEntry[]) => {
        const wanted = entries.flatMap(({ name: host, to: there }) =>
          (there.kind === 'name' ? [there.host] : there.addresses)
            // A rule of cloudflared has one address.
            .slice(0, name === 'cloudflared' ? 1 : undefined)
            .map((value) => pair(host, value)),
        );

        // CoreDNS answers both types with the CNAME record.
        const found = new Set(READERS[name](textOf(name, entries)));

        expect([...found].toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: 50 },
    );
  });

  function hexAddress(a: number, b: number): string {
    return `2001:db8:1:1:1:1:${(a || 1).toString(16)}:${(b || 1).toString(16)}`;
  }
});
