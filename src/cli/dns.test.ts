import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let terminal: Terminal;
beforeAll(async () => {
  server = await TestApiServer.start();
  terminal = new Terminal(server);
  for (const name of ['tenants', 'other', 'lost', 'own', 'plain', 'local']) {
    server.seed(objectOf('Namespace', { name }));
  }
  edge('shared', {
    domain: 'example.test',
    addresses: ['203.0.113.10', '2001:db8::10'],
    allowedHosts: ['*.test'],
  });
  edge('local', { addresses: ['127.0.0.1'] });
  edge('self', { domain: '203-0-113-10.sslip.io', addresses: ['203.0.113.10'] });
  edge('nowhere', { domain: 'nowhere.test' });
  edge('cloud', { domain: 'cloud.test', ingress: { className: 'haproxy' } });
  exposure('tenants/blue', { edgeRef: { name: 'shared' } });
  exposure('tenants/red', { edgeRef: { name: 'shared' }, hosts: { api: 'api.red.test' } });
  exposure('other/green', { edgeRef: { name: 'cloud' } });
  await routed('other/green', [{ hostname: 'lb-1.example.net' }]);
  exposure('lost/grey', { edgeRef: { name: 'nowhere' } });
  exposure('lost/black', { edgeRef: { name: 'gone' } });
  exposure('own/white', { edgeRef: { name: 'self' } });
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

function edge(name: string, spec: object): void {
  server.seed(objectOf('Edge', { name }, { spec: { driver: 'haproxy', ...spec } }));
}

function exposure(key: string, spec: object, konnectivityPort: number | undefined = 8132): void {
  const [namespace = '', name = ''] = key.split('/');
  const service = { name, ...(konnectivityPort > 0 && { konnectivityPort }) };
  const controlPlane = {
    type: 'Service',
    service,
    caSecretRef: { name: 'ca' },
    kubeconfigSecretRef: { name: 'kubeconfig' },
  };
  server.seed(objectOf('Exposure', { name, namespace }, { spec: { controlPlane, ...spec } }));
}

/** Creates the Ingress of an Exposure, with what its controller reports. */
async function routed(key: string, ingress: readonly object[]): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  const { uid = '' } = server.read(RESOURCES.exposure, { name, namespace })!.metadata;
  const labels = { ...MANAGED_BY, [EXPOSURE_LABEL]: name };
  const ownerReferences = [{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', name, uid }];
  const metadata = { name: `snicket-${name}.haproxy`, namespace, labels, ownerReferences };
  server.seed(objectOf('Ingress', metadata, { spec: { ingressClassName: 'haproxy' } }));
  const status = { loadBalancer: { ingress } };
  const at = { subresource: 'status' } as const;
  await createClient(server.access).patch(RESOURCES.ingress, metadata, 'merge', { status }, at);
}

describe('dns --format prints records', () => {
  test('of the namespace of the context in the requested format', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['dns', '--format', 'hosts']);

    expect(stderr).toBe('');
    expect(stdout).toBe(`# Edge shared
203.0.113.10 tenants-blue.k8s.example.test
2001:db8::10 tenants-blue.k8s.example.test
203.0.113.10 tenants-blue.konnectivity.example.test
2001:db8::10 tenants-blue.konnectivity.example.test
203.0.113.10 api.red.test
2001:db8::10 api.red.test
203.0.113.10 tenants-red.konnectivity.example.test
2001:db8::10 tenants-red.konnectivity.example.test
`);
    expect(exitCode).toBe(0);
  });

  test('of the named Exposures, each once', async () => {
    const args = ['dns', 'other/green', 'blue', 'tenants/blue', '--format', 'bind', '--ttl', '60'];

    const { exitCode, stdout } = await terminal.snicket(args);

    expect(stdout).toBe(`; Edge cloud
other-green.k8s.cloud.test.             60 IN CNAME lb-1.example.net.
other-green.konnectivity.cloud.test.    60 IN CNAME lb-1.example.net.
; Edge shared
tenants-blue.k8s.example.test.          60 IN A     203.0.113.10
tenants-blue.k8s.example.test.          60 IN AAAA  2001:db8::10
tenants-blue.konnectivity.example.test. 60 IN A     203.0.113.10
tenants-blue.konnectivity.example.test. 60 IN AAAA  2001:db8::10
`);
    expect(exitCode).toBe(0);
  });

  test('with wildcards, and notes the names that they do not cover', async () => {
    const { stdout, stderr } = await terminal.snicket(['dns', '--format', 'dnsmasq', '--wildcard']);

    expect(stdout).toBe(`# Edge shared
address=/k8s.example.test/203.0.113.10
address=/k8s.example.test/2001:db8::10
address=/konnectivity.example.test/203.0.113.10
address=/konnectivity.example.test/2001:db8::10
host-record=api.red.test,203.0.113.10,300
host-record=api.red.test,2001:db8::10,300
`);
    expect(stderr).toBe(
      'note: api.red.test is not covered by a wildcard and has its own records\n',
    );
  });

  test('as far as possible, and reports the errors of the others', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['dns', '-A', '--format', 'hosts']);

    expect(stdout).toContain('203.0.113.10 tenants-blue.k8s.example.test\n');
    expect(stderr.split('\n')).toEqual([
      'note: *.203-0-113-10.sslip.io needs no record: the address is in the name itself',
      'error: lost/black: EdgeNotFound: Edge gone does not exist.',
      'hint: Create it, or correct spec.edgeRef (existing Edges: cloud, local, nowhere, self, shared).',
      'error: Edge nowhere: AddressUnknown: The address of Edge nowhere is unknown: it has no spec.addresses, and its controller reports none.',
      'hint: Set spec.addresses of the Edge, or wait for the load balancer if its Service is of type LoadBalancer.',
      'error: Edge cloud: RecordsUnsupported: The Edge has the name lb-1.example.net, but in format hosts a name cannot point to a name.',
      'hint: Set spec.addresses of the Edge to IP addresses, or use one of the formats bind, coredns, windows, infoblox, cloudflare, cloudflared, route53, external-dns.',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test('without konnectivity if the control plane has none, and without hosts of others', async () => {
    exposure('plain/a', { edgeRef: { name: 'shared' }, hosts: { api: 'a.plain.test' } }, 0);
    exposure('plain/b', { edgeRef: { name: 'shared' }, hosts: { api: 'a.plain.test' } }, 0);

    const args = ['dns', '-n', 'plain', '--format', 'hosts'];
    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stdout.match(/plain\.test/g)).toHaveLength(2);
    expect(stdout).not.toContain('konnectivity');
    expect(stderr).toMatch(
      /^error: plain\/[ab]: HostConflict: Host a\.plain\.test is already used by /,
    );
    expect(exitCode).toBe(1);
  });
});

describe('dns -f with files', () => {
  const files = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata: { name: shared, annotations: { snicket.dev/is-default: 'true' } }
spec: { driver: haproxy, addresses: [203.0.113.10], allowedHosts: ['*.k0s.example.io'] }
---
apiVersion: k0smotron.io/v1beta2
kind: Cluster
metadata: { name: blue, namespace: tenants, annotations: { snicket.dev/edge: shared } }
spec:
  version: v1.34.1-k0s.0
  ingress:
    apiHost: kube-api.k0s.example.io
    konnectivityHost: konnectivity.k0s.example.io
    className: haproxy
`;
  const BLUE = `; Edge shared
*.k0s.example.io. 300 IN A     203.0.113.10
`;

  test('prints the records of the Exposures that annotations request', async () => {
    terminal.write('edge.yaml', files);
    const args = ['dns', '-f', 'edge.yaml', 'tenants/blue', '--format', 'bind', '--wildcard'];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stderr).toBe(
      'note: Exposure tenants/blue is what an annotation of Cluster tenants/blue asks for\n',
    );
    expect(stdout).toBe(BLUE);
    expect(exitCode).toBe(0);
  });

  test('reads standard input', async () => {
    const args = ['dns', '-f', '-', '--format', 'bind', '--wildcard'];

    expect(await terminal.snicket(args, files)).toMatchObject({ exitCode: 0, stdout: BLUE });
  });

  test('reports an annotation without an Edge', async () => {
    const lost = files.replace('snicket.dev/edge: shared', 'snicket.dev/edge: gone');

    const { exitCode, stdout, stderr } = await terminal.snicket(['dns', '-f', '-'], lost);

    expect(stdout).toBe('');
    expect(stderr).toContain('error: tenants/blue: EdgeNotFound: ');
    expect(exitCode).toBe(1);
  });

  test.each([
    ['an invalid file', 'kind: Exposure', [], 2, 'error: standard input:1:1: '],
    [
      'no Exposure',
      'apiVersion: v1\nkind: Service\nmetadata: { name: a }',
      [],
      2,
      'no Exposures in',
    ],
    ['another Exposure', files, ['tenants/red'], 2, 'Exposure not found: tenants/red'],
    ['a context', files, ['--context', 'a'], 2, '--context cannot be combined with -f'],
    ['a state', files, ['--state', 'a'], 2, '--state requires the folder of snicket run in -f'],
  ] as const)('rejects %s', async (_, input, more, code, message) => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['dns', '-f', '-', ...more], input);

    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(exitCode).toBe(code);
  });
});

describe('dns --address', () => {
  test('prints records with the public address instead of those of the Edge', async () => {
    const args = ['dns', 'lost/grey', '--format', 'bind', '--address', '198.51.100.1'];

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...args,
      ...['--address', '2001:db8::1'],
    ]);

    expect(stderr).toBe('');
    expect(stdout).toBe(`; Edge nowhere
lost-grey.k8s.nowhere.test.          300 IN A     198.51.100.1
lost-grey.k8s.nowhere.test.          300 IN AAAA  2001:db8::1
lost-grey.konnectivity.nowhere.test. 300 IN A     198.51.100.1
lost-grey.konnectivity.nowhere.test. 300 IN AAAA  2001:db8::1
`);
    expect(exitCode).toBe(0);
  });

  test('compares names with the public address', async () => {
    const args = ['dns', 'blue', '--address', 'public.example.net', '-o', 'json'];

    const { stdout } = await terminal.snicket(args);

    const records = [{ type: 'CNAME', values: ['public.example.net'] }];
    expect(JSON.parse(stdout)).toMatchObject({ names: [{ records }, { records }] });
  });

  test.each([
    ['a b', "invalid value 'a b' for --address: must be an IP address or a DNS name"],
    ['300.1.1.1', "invalid value '300.1.1.1' for --address: must be an IP address or a DNS name"],
    [
      '198.51.100.1',
      'error: --address requires Exposures of one Edge, but they have shared, cloud\nhint: name Exposures of one Edge\n',
    ],
  ])('rejects %s, here for two Edges', async (address, message) => {
    const args = ['dns', 'blue', 'other/green', '--format', 'bind', '--address', address];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

test('prints no konnectivity record if the TenantRoutes have none', async () => {
  exposure('plain/told', { edgeRef: { name: 'shared' } });
  const place = { name: 'told-1', namespace: 'plain' };
  const { kind, metadata, spec } = tenantRoute('told', 'plain-told.k8s.example.test', place);
  server.seed(objectOf(kind, metadata, { spec }));

  const { stdout } = await terminal.snicket(['dns', 'plain/told', '--format', 'infoblox']);

  expect(stdout).toBe(`header-arecord,fqdn*,address*,comment,ttl
arecord,plain-told.k8s.example.test,203.0.113.10,snicket Edge shared,300
header-aaaarecord,fqdn*,address*,comment,ttl
aaaarecord,plain-told.k8s.example.test,2001:db8::10,snicket Edge shared,300
`);
});

describe('dns checks names, and prints', () => {
  test('a table, and exit code 1, for names that are missing', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['dns', 'blue']);

    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head?.split(/ {2,}/)).toEqual([...['EXPOSURE', 'HOST', 'EXPECTED', 'ACTUAL', 'STATE']]);
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row).toMatch(
        /^tenants\/blue  tenants-blue\.\w+\.example\.test +203\.0\.113\.10, 2001:db8::10  - +(missing|unknown)$/,
      );
    }
    expect(stderr).toBe(
      '2 of 2 names do not resolve to the Edge; to print the records: --format\n',
    );
    expect(exitCode).toBe(1);
  });

  test('the same results as JSON and as YAML', async () => {
    const json = await terminal.snicket(['dns', 'lost/grey', 'blue', '-o', 'json']);
    const yaml = await terminal.snicket(['dns', 'lost/grey', 'blue', '-o', 'yaml']);

    const value = JSON.parse(json.stdout) as { names: object[]; findings: object[] };
    expect(value).toEqual(parse(yaml.stdout));
    expect(value.names).toHaveLength(4);
    expect(value.names[0]).toMatchObject({
      exposure: 'lost/grey',
      edge: 'nowhere',
      state: 'unknown',
      code: 'AddressUnknown',
      needsRecord: true,
      records: [],
      found: [],
    });
    expect(value.names[2]).toMatchObject({
      exposure: 'tenants/blue',
      host: 'tenants-blue.k8s.example.test',
      records: [
        { type: 'A', values: ['203.0.113.10'] },
        { type: 'AAAA', values: ['2001:db8::10'] },
      ],
    });
    expect(value.findings).toMatchObject([{ of: 'Edge nowhere', code: 'AddressUnknown' }]);
    expect(json.exitCode).toBe(1);
  });

  // A separate mount namespace, with another /etc/hosts.
  const unshare = ['unshare', '--mount', 'sh', '-c'];
  const isPrivate = Bun.spawnSync([...unshare, 'mount --bind /dev/null /etc/hosts']).success;

  test.skipIf(!isPrivate)(
    'a table, and exit code 0, for names that resolve to the Edge',
    async () => {
      exposure('local/blue', { edgeRef: { name: 'local' }, hosts: { api: 'api.blue.test' } }, 0);
      terminal.write('hosts', '127.0.0.1 api.blue.test\n');

      const correct = await terminal.run([
        ...[...unshare, 'mount --bind hosts /etc/hosts && "$@"', '-'],
        ...[terminal.program, 'dns', 'local/blue'],
      ]);
      terminal.write('hosts', '127.0.0.2 api.blue.test\n');
      const wrong = await terminal.run([
        ...[...unshare, 'mount --bind hosts /etc/hosts && "$@"', '-'],
        ...[terminal.program, 'dns', 'local/blue'],
      ]);

      expect(correct.stdout.split('\n')[1]).toBe(
        'local/blue  api.blue.test  127.0.0.1  127.0.0.1  ok',
      );
      expect(correct.stderr).toBe('');
      expect(correct.exitCode).toBe(0);
      expect(wrong.stdout).toContain('127.0.0.2  wrong\n');
      expect(wrong.exitCode).toBe(1);
    },
  );

  test.each([80, 120])('no line longer than a terminal of %d columns', async (columns) => {
    const text = await terminal.show(['dns', 'blue'], columns);

    const lines = Bun.stripANSI(text).split(/\r?\n/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(text).toContain('\u001B[3');
    expect(lines[0]).toMatch(columns === 80 ? /^EXPOSURE +tenants\/blue$/ : /^EXPOSURE +HOST /);
  });
});

test.each([
  [
    ['--wildcard'],
    2,
    'error: --wildcard requires --format\nhint: pass --format or remove --wildcard',
  ],
  [
    ['--zone', 'example.com'],
    2,
    'error: --zone requires --format\nhint: pass --format or remove --zone',
  ],
  [
    ['--format', 'hosts', '--wildcard'],
    2,
    'error: format hosts does not support wildcards\nhint: remove --wildcard, or use one of: bind, dnsmasq, coredns, windows, infoblox, cloudflare, cloudflared, route53, external-dns',
  ],
  [
    ['--format', 'bind', '-o', 'json'],
    2,
    'error: --format and -o are mutually exclusive\nhint: remove one of them',
  ],
  [
    ['--format', 'bind', '--ttl', '0'],
    2,
    "error: invalid value '0' for --ttl: must be an integer from 1 to 2147483647",
  ],
  [
    ['--format', 'windows', '--zone', 'a b'],
    2,
    'invalid domain "a b": must be a lowercase DNS name',
  ],
  [
    ['--format', 'zone'],
    2,
    "error: invalid value 'zone' for --format: must be one of bind, dnsmasq, coredns, windows, infoblox, cloudflare, cloudflared, route53, external-dns, hosts",
  ],
  [
    ['tenants/blue', '-A'],
    2,
    'error: -A cannot be combined with a name or -n\nhint: remove -A, or the others',
  ],
  [
    ['tenants/blau'],
    2,
    'error: Exposure not found: tenants/blau\nhint: existing Exposures: local/blue, lost/black, lost/grey, other/green, own/white, plain/a, plain/b, plain/told, tenants/blue, tenants/red',
  ],
  [['-n', 'empty'], 0, 'No Exposures found in namespace empty; to include all namespaces: -A'],
])('%j', async (args, code, message) => {
  const { exitCode, stdout, stderr } = await terminal.snicket(['dns', ...args]);

  expect(stderr).toContain(message);
  expect(stdout).toBe('');
  expect(exitCode).toBe(code);
});

test('the help fits into 80 columns, and has the exit codes', async () => {
  const { stdout } = await terminal.snicket(['dns', '--help']);

  expect(stdout).toContain('Exit codes:\n  0  every name resolves to its Edge');
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});
