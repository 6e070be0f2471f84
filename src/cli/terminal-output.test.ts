import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createClient } from '../kube/client/fetch-client.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { objectOf, secretOf } from '../operator/testing/objects.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { listedCommands } from './testing/commands.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

/** Commands that print text for users: all lines fit. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'status -A': ['status', '-A'],
  'status of one': ['status', 'a-tenant-with-a-long-name'],
  dns: ['dns'],
  doctor: ['doctor', '--timeout', '0.1s'],
  expose: ['expose', 'service/white', '--yes'],
  version: ['version'],
  explain: ['explain', 'DnsWrongAddress'],
};

/** Commands that print text for programs and files: lines of any length, and no colors. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  render: ['render', '--only', 'management'],
  'dns --format': ['dns', '--format', 'bind'],
  kubeconfig: ['kubeconfig', 'white'],
  'tenant-key': ['tenant-key', '--key-file', 'master.key', 'a.example.test'],
  address: ['address', 'check', '100.64.64.1'],
  completion: ['completion', 'bash'],
  'expose --dry-run': ['expose', 'service/white', '--dry-run'],
};

/** Has colors on a terminal, and lines of any length. */
const DIFF = ['diff', '--only', 'management'];

/** Servers run until a signal. They print a log. */
const SERVERS = ['gateway', 'operator', 'proxy', 'run', 'tcp-proxy'];

let server: TestApiServer;
let terminal: Terminal;
beforeAll(async () => {
  server = await TestApiServer.start();
  terminal = new Terminal(server);
  terminal.write('master.key', `${Buffer.alloc(32, 7).toString('base64')}\n`);
  const at = (name: string) => ({ name, namespace: 'tenants' });
  const annotations = { 'snicket.dev/is-default': 'true' };
  const addresses = ['203.0.113.10', '2001:db8::10'];
  const ca = await makeCa();
  const kubeconfig = writeKubeconfig({
    server: 'https://127.0.0.1:1',
    ca: ca.certificate,
    credentials: { token: 'a' },
    names: { cluster: 'white', user: 'admin' },
  });
  const spec = { driver: 'snicket', domain: 'example.test', addresses };
  const ports = [{ name: 'api', port: 6443, protocol: 'TCP' }];
  server.seed(
    objectOf('Namespace', { name: 'tenants' }),
    objectOf('Edge', { name: 'shared', annotations }, { spec }),
    objectOf('Service', at('white'), { spec: { clusterIP: '127.0.0.1', ports } }),
    objectOf('Service', at('grey'), { spec: { clusterIP: '127.0.0.1', ports } }),
    secretOf(at('white-ca'), { 'tls.crt': ca.certificate, 'tls.key': ca.key }),
    secretOf(at('white-kubeconfig'), { 'admin.conf': kubeconfig }),
  );
  for (const name of ['white', 'a-tenant-with-a-long-name']) {
    const controlPlane = {
      type: 'Service',
      service: { name },
      caSecretRef: { name: `${name}-ca` },
      kubeconfigSecretRef: { name: `${name}-kubeconfig` },
    };
    server.seed(objectOf('Exposure', at(name), { spec: { controlPlane } }));
    await report(name);
  }
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** Writes the status of an Exposure whose DNS records are missing. */
async function report(name: string): Promise<void> {
  const host = `tenants-${name}.k8s.example.test`;
  const reason = 'DnsNoAnswer';
  const message = `${host} has no address; add a DNS record for ${host} that leads to 203.0.113.10`;
  const lastTransitionTime = '2026-03-02T08:00:00Z';
  const status = {
    edgeRef: { name: 'shared' },
    mode: 'Passthrough',
    endpoint: `${host}:443`,
    observedGeneration: 1,
    proxies: { ready: 12, desired: 12, summary: '12/12' },
    conditions: [{ type: 'Ready', status: 'False', reason, message, lastTransitionTime }],
    hops: [{ name: 'dns', state: 'Fail', reason, message, at: lastTransitionTime }],
  };
  const key = { name, namespace: 'tenants' };
  const options = { subresource: 'status' } as const;
  await createClient(server.access).patch(RESOURCES.exposure, key, 'merge', { status }, options);
  const { apiVersion: _, kind, metadata, spec } = tenantRoute(name, host);
  server.seed(objectOf(kind, metadata, { spec }));
}

const ESCAPE = '\u001B';

function widerLines(text: string, columns: number): readonly string[] {
  const lines = Bun.stripANSI(text).split('\r\n');
  return lines.filter((line) => Bun.stringWidth(line) > columns);
}

test.each(Object.entries(TABLES))(
  '%s fits into 80 and 120 columns, and has no escape codes with NO_COLOR or in a pipe',
  async (_, args) => {
    // Together, since most of the time is spent waiting.
    const [narrow, wide, { stdout, stderr }] = await Promise.all([
      terminal.showOutput(args, 80, { NO_COLOR: '1' }),
      terminal.showOutput(args, 120),
      terminal.snicket(args),
    ]);

    for (const text of [narrow, wide, stdout]) expect(text).not.toBe('');
    expect(widerLines(narrow, 80)).toEqual([]);
    expect(widerLines(wide, 120)).toEqual([]);
    for (const text of [narrow, stdout, stderr]) expect(text).not.toContain(ESCAPE);
  },
);

test.each(Object.entries(TEXTS))('%s has no colors, also on a terminal', async (_, args) => {
  const text = await terminal.showOutput(args, 80);

  expect(text).not.toContain(ESCAPE);
  expect(text).not.toBe('');
});

test('diff has colors on a terminal, but not with NO_COLOR, nor in a pipe', async () => {
  const [colored, plain, { stdout }] = await Promise.all([
    terminal.show(DIFF, 80),
    terminal.show(DIFF, 80, { NO_COLOR: '1' }),
    terminal.snicket(DIFF),
  ]);

  expect(colored).toContain(ESCAPE);
  for (const text of [plain, stdout]) {
    expect(text).toContain('+ management TenantRoute');
    expect(text).not.toContain(ESCAPE);
  }
});

test.each([
  ['of the command line', ['dns', '--format', 'nope']],
  ['of a folder', ['doctor', '-f', 'a-folder-that-is-not-there']],
  ['of what is asked for', ['render', 'a-tenant-with-a-name-that-nobody-has']],
  ['of a file, and notes beside them', ['render', '-f', '.']],
])('errors %s fit a terminal, and are one line each in a pipe', async (_, args) => {
  terminal.write('wrong.yaml', 'kind: Exposure\n');

  const [narrow, { stderr }] = await Promise.all([terminal.show(args, 60), terminal.snicket(args)]);

  const lines = narrow.trimEnd().split('\r\n');
  expect(stderr).toMatch(/^(?:(?:error|hint|note): .*\n)+$/);
  expect(lines.length).toBeGreaterThanOrEqual(stderr.split('\n').length - 1);
  expect(widerLines(narrow, 60)).toEqual([]);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(stderr.trim().replaceAll('\n', ' '));
});

test('every command is covered', async () => {
  const { stdout } = await terminal.snicket(['--help']);
  const commands = listedCommands(stdout);

  const covered = [
    ...[...Object.values({ ...TABLES, ...TEXTS }), DIFF].map(([name = '']) => name),
    ...SERVERS,
  ];

  expect(new Set([...covered, 'help'])).toEqual(new Set(commands));
});
