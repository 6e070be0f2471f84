import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { createClient } from '../kube/client/fetch-client.ts';
import { parseKubeconfig } from '../kube/access/kubeconfig.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { LabTenant } from '../operator/testing/lab-tenant.ts';
import { objectOf, secretOf } from '../operator/testing/objects.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let tenant: LabTenant;
let terminal: Terminal;
beforeAll(async () => {
  server = await TestApiServer.start();
  tenant = await LabTenant.start('blue');
  terminal = new Terminal(server);
  const { authority, kubeconfig, port } = tenant;
  const at = (name: string) => ({ name, namespace: 'tenants' });
  server.seed(
    objectOf('Namespace', { name: 'tenants' }),
    objectOf(
      'Edge',
      { name: 'shared' },
      { spec: { driver: 'haproxy', domain: 'example.test', addresses: ['127.0.0.1'] } },
    ),
    objectOf('Edge', { name: 'nowhere' }, { spec: { driver: 'haproxy', domain: 'example.test' } }),
    objectOf('Service', at('blue'), { spec: { ports: [{ name: 'api', port: 6443 }] } }),
    secretOf(at('ca'), { 'tls.crt': authority.certificate }),
    secretOf(at('kubeconfig'), { 'admin.conf': kubeconfig }),
  );
  await expose('blue', { endpoint: `${tenant.apiHost}:${port}` });
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await tenant[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

interface ProbeResults {
  readonly endpoint?: string;
  readonly edge?: string;
  readonly kubeconfig?: string;
  readonly conditions?: readonly object[];
}

/** Creates an Exposure with the status that the operator would set. */
async function expose(name: string, told: ProbeResults): Promise<void> {
  const { endpoint, edge = 'shared', kubeconfig = 'kubeconfig', conditions } = told;
  const controlPlane = {
    type: 'Service',
    service: { name: 'blue' },
    caSecretRef: { name: 'ca' },
    kubeconfigSecretRef: { name: kubeconfig },
  };
  const key = { name, namespace: 'tenants' };
  server.seed(objectOf('Exposure', key, { spec: { edgeRef: { name: edge }, controlPlane } }));
  if (endpoint === undefined && conditions === undefined) return;
  if (endpoint !== undefined) {
    const { kind, metadata, spec } = tenantRoute(name, endpoint.split(':')[0] ?? '');
    server.seed(objectOf(kind, metadata, { spec }));
  }
  await createClient(server.access).patch(
    RESOURCES.exposure,
    key,
    'merge',
    {
      status: { edgeRef: { name: edge }, conditions, ...(endpoint !== undefined && { endpoint }) },
    },
    { subresource: 'status' },
  );
}

describe('a kubeconfig through the edge', () => {
  test('has the host of the tenant as server', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['kubeconfig', 'blue']);

    expect(stderr).toBe('');
    expect(parse(stdout)).toMatchObject({
      clusters: [
        {
          name: 'tenants/blue',
          cluster: { server: `https://tenants-blue.k8s.example.test:${tenant.port}` },
        },
      ],
      contexts: [{ name: 'tenants/blue' }],
      'current-context': 'tenants/blue',
    });
    expect(exitCode).toBe(0);
  });

  test.each([[['--address', '127.0.0.1']], [['--by-address']]])(
    'works with no DNS at all: %j',
    async (flags) => {
      const { stdout } = await terminal.snicket(['kubeconfig', 'tenants/blue', ...flags]);

      const access = parseKubeconfig(stdout);
      expect(access.server).toBe(`https://127.0.0.1:${tenant.port}`);
      expect(access.serverName).toBe('tenants-blue.k8s.example.test');
      expect(await createClient(access).version()).toHaveProperty('gitVersion');
    },
  );

  test('has an IPv6 address as server', async () => {
    const args = ['kubeconfig', 'blue', '--address', '2001:db8::10'];

    const { stdout } = await terminal.snicket(args);

    expect(stdout).toContain(`server: https://[2001:db8::10]:${tenant.port}\n`);
  });
});

describe('kubeconfig -o FILE', () => {
  test('writes a file that only its owner can read, and overwrites none by mistake', async () => {
    const path = join(terminal.folder, 'blue.kubeconfig');
    const args = ['kubeconfig', 'blue', '-o', 'blue.kubeconfig'];

    const first = await terminal.snicket(args);
    const mode = statSync(path).mode & 0o777;
    terminal.write('old.kubeconfig', 'precious');
    const refused = await terminal.snicket(['kubeconfig', 'blue', '-o', 'old.kubeconfig']);
    const kept = readFileSync(join(terminal.folder, 'old.kubeconfig'), 'utf8');
    const forced = await terminal.snicket([
      ...['kubeconfig', 'blue', '-o', 'old.kubeconfig', '--force'],
    ]);

    expect(first).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(mode).toBe(0o600);
    expect(refused.stderr).toBe(
      'error: old.kubeconfig already exists\nhint: choose another file or pass --force to overwrite it\n',
    );
    expect(refused.exitCode).toBe(2);
    expect(kept).toBe('precious');
    expect(forced.exitCode).toBe(0);
    const old = join(terminal.folder, 'old.kubeconfig');
    expect(readFileSync(old, 'utf8')).toBe(readFileSync(path, 'utf8'));
    expect(statSync(old).mode & 0o777).toBe(0o600);
    const written = readdirSync(terminal.folder).filter((name) => /(?:blue|old)\.kube/.test(name));
    expect(written.toSorted()).toEqual(['blue.kubeconfig', 'old.kubeconfig']);
  });

  test.each([
    ['not a regular file', '/dev/null'],
    ['a symbolic link', 'link'],
    ['not a regular file', 'folder'],
  ])('does not replace a file that is %s: %s', async (kind, output) => {
    const link = join(terminal.folder, 'link');
    const folder = join(terminal.folder, 'folder');
    rmSync(link, { force: true });
    symlinkSync('elsewhere', link);
    mkdirSync(folder, { recursive: true });

    const { exitCode, stderr } = await terminal.snicket([
      ...['kubeconfig', 'blue', '-o', output, '--force'],
    ]);

    expect(stderr).toBe(
      `error: ${output} already exists and is ${kind}\nhint: choose another file or omit -o to print the kubeconfig\n`,
    );
    expect(exitCode).toBe(2);
    expect(lstatSync(link).isSymbolicLink()).toBeTrue();
    expect(lstatSync('/dev/null').isCharacterDevice()).toBeTrue();
  });

  test.each([
    ['no/such/folder/a', 'ENOENT'],
    ['kubeconfig/a', 'ENOTDIR'],
    ['a'.repeat(300), 'ENAMETOOLONG'],
  ])('fails if the file cannot be written: %s', async (output, code) => {
    const args = ['kubeconfig', 'blue', '-o', output];

    const { exitCode, stderr } = await terminal.snicket(args);

    expect(stderr).toBe(`error: cannot write ${output}: ${code}\nhint: choose another file\n`);
    expect(exitCode).toBe(2);
  });
});

test('escapes line breaks and escape codes of a Secret', async () => {
  const hostile = 'x\u001B[2J\u009B31m\nerror: forged';
  const text = stringify({ ...(parse(tenant.kubeconfig) as object), 'current-context': hostile });
  server.seed(secretOf({ name: 'hostile', namespace: 'tenants' }, { 'admin.conf': text }));
  await expose('hostile', { endpoint: 'hostile.example.test:443', kubeconfig: 'hostile' });

  const { exitCode, stderr } = await terminal.snicket(['kubeconfig', 'hostile']);

  expect(stderr).toContain('has no context "x\\u001b[2J\\u009b31m\\u000aerror: forged"');
  expect(stderr).toMatch(/^error: .*\nhint: compare .*\n$/);
  expect(exitCode).toBe(1);
});

describe('kubeconfig fails', () => {
  test('while the Exposure is not routed, and prints the reason', async () => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    await expose('new', {});
    await expose('late', {
      conditions: [
        { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', lastTransitionTime },
        {
          type: 'Routed',
          status: 'False',
          reason: 'ServiceMissing',
          lastTransitionTime,
          message: 'Service tenants/late does not exist.',
        },
      ],
    });

    const fresh = await terminal.snicket(['kubeconfig', 'new']);
    const late = await terminal.snicket(['kubeconfig', 'late', '-o', 'late.kubeconfig']);

    expect(fresh.stderr).toBe(
      'error: tenants/new: the Exposure is not routed: the operator has not reconciled it\nhint: check that the operator is running\n',
    );
    expect(late.stderr).toBe(
      'error: tenants/late: the Exposure is not routed: Routed is False: Service tenants/late does not exist.\n',
    );
    expect([fresh.exitCode, late.exitCode]).toEqual([1, 1]);
    expect(existsSync(join(terminal.folder, 'late.kubeconfig'))).toBe(false);
  });

  test('if the Secret is missing or invalid', async () => {
    const key = { name: 'broken', namespace: 'tenants' };
    server.seed(secretOf(key, { 'admin.conf': 'token: "hunter2' }));
    await expose('absent', { endpoint: 'absent.example.test:443', kubeconfig: 'missing' });
    await expose('broken', { endpoint: 'broken.example.test:443', kubeconfig: 'broken' });

    const absent = await terminal.snicket(['kubeconfig', 'absent']);
    const broken = await terminal.snicket(['kubeconfig', 'broken']);

    expect(absent.stderr).toStartWith(
      'error: tenants/absent: the tenant has no kubeconfig: Secret tenants/missing does not exist.\nhint: Create it, or correct its name in spec.controlPlane.',
    );
    expect(broken.stderr).toStartWith(
      "error: tenants/broken: the tenant's kubeconfig is not a valid kubeconfig: it is not YAML",
    );
    expect(broken.stderr).not.toContain('hunter2');
    expect([absent.exitCode, broken.exitCode]).toEqual([1, 1]);
  });

  test('with --by-address if the Edge has no address', async () => {
    await expose('lost', { endpoint: 'lost.example.test:443', edge: 'nowhere' });

    const { exitCode, stderr } = await terminal.snicket(['kubeconfig', 'lost', '--by-address']);

    expect(stderr).toStartWith(
      'error: tenants/lost: the address of Edge nowhere is unknown\nhint: set spec.addresses of the Edge, wait for the load balancer if its Service is of type LoadBalancer, or pass --address',
    );
    expect(exitCode).toBe(1);
  });
});

test.each([
  [[], "missing required argument 'exposure'"],
  [
    ['blue', '--address', 'edge.example.com'],
    "error: invalid value 'edge.example.com' for --address: must be an IP address such as 203.0.113.10 or 2001:db8::10",
  ],
  [['blue', '--address', '127.0.0.1', '--by-address'], 'cannot be used with option'],
  [['blue', '--force'], 'error: --force requires -o\nhint: pass -o FILE or remove --force'],
  [
    ['blue', '-o', 'yaml'],
    "error: invalid value 'yaml' for --output: must be a file, not a format: a kubeconfig is YAML\nhint: omit -o, or pass ./yaml for a file of that name",
  ],
  [
    ['tenants/blue', '-n', 'other'],
    'error: namespace tenants of blue differs from -n other\nhint: remove one of them',
  ],
  [
    ['blau'],
    'error: Exposure not found: tenants/blau\nhint: existing Exposures: tenants/absent, tenants/blue, tenants/broken, tenants/hostile, tenants/late, tenants/lost, tenants/new',
  ],
])('rejects %j', async (args, sentence) => {
  const { exitCode, stdout, stderr } = await terminal.snicket(['kubeconfig', ...args]);

  expect(stderr).toContain(sentence);
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});

test('the help fits into 80 columns, and has the exit codes', async () => {
  const { stdout } = await terminal.snicket(['kubeconfig', '--help']);

  expect(stdout).toContain('Exit codes:\n  0  success');
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});
