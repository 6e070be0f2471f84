import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../kube/client/fetch-client.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { yamlText } from '../../manifests/yaml-text.ts';
import { RunLab } from '../../standalone/testing/run-lab.ts';
import { objectsInFolder } from './folder-management.ts';
import { Terminal } from '../testing/snicket.ts';
import { TestIo } from '../testing/test-io.ts';

setDefaultTimeout(240_000);

const API_HOST = 'tenants-blue.k8s.example.test';

test('dns -f prints records for the hosts in the folder of `snicket run`', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  await lab.addTenant('red');

  const args = ['dns', '-f', lab.folder, '--format', 'hosts'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe('');
  expect(stdout).toBe(`# Edge shared
127.0.0.1 ${API_HOST}
127.0.0.1 tenants-red.k8s.example.test
`);
  expect(exitCode).toBe(0);
});

test('dns -f resolves the hosts in the folder', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');

  const { exitCode, stdout, stderr } = await terminal.snicket(['dns', '-f', lab.folder]);

  // No DNS server knows the hosts of the lab.
  expect(stderr).toBe('1 of 1 name does not resolve to the Edge; to print the records: --format\n');
  expect(stdout).toMatch(/tenants\/blue +tenants-blue\.k8s\.example\.test +127\.0\.0\.1 +- /);
  expect(exitCode).toBe(1);
});

test.each(['dns', 'doctor'])(
  '%s -f reports an invalid file, which may contain Exposures',
  async (command) => {
    using terminal = new Terminal();
    mkdirSync(join(terminal.folder, 'tenants'));
    terminal.write('tenants/blue.yaml', 'kind: Exposure');

    const { exitCode, stderr } = await terminal.snicket([command, '-f', 'tenants']);

    expect(stderr).toMatch(/^error: blue\.yaml:1:1: /);
    expect(stderr).toEndWith(
      '\nerror: no Exposures in the valid files\nhint: correct the errors above\n',
    );
    expect(exitCode).toBe(2);
  },
);

test.each([
  [['dns']],
  [['doctor']],
  [['doctor', '-o', 'json']],
  [['render']],
  [['diff', '--state', '.']],
])('rejects a folder without an Exposure if its path was given: %j', async (args) => {
  using terminal = new Terminal();
  mkdirSync(join(terminal.folder, 'tenants'));
  terminal.write('status.yaml', 'kind: List\nitems: []\n');
  terminal.write('master.key', '');

  const { exitCode, stdout, stderr } = await terminal.snicket([...args, '-f', 'tenants']);

  expect(stderr).toBe(
    'error: no Exposures in folder tenants\nhint: add a file with an Exposure, or pass the folder of snicket run\n',
  );
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});

test.each([[['dns', '--format', 'hosts']], [['doctor']], [['render']]])(
  'a missing Exposure may be in an invalid file or in another namespace: %j',
  async (args) => {
    await using lab = new RunLab();
    using terminal = new Terminal();
    await lab.addTenant('blue');

    const otherNamespace = await terminal.snicket([...args, '-f', lab.folder, '-n', 'others']);
    lab.write('red.yaml', 'kind: Exposure\n');
    const invalid = await terminal.snicket([...args, 'tenants/red', '-f', lab.folder]);

    expect(otherNamespace.stderr).toBe(
      'error: no Exposures in namespace others\nhint: existing Exposures: tenants/blue\n',
    );
    expect(otherNamespace.exitCode).toBe(2);
    expect(invalid.stderr).toContain('error: red.yaml:1:1: not an object');
    expect(invalid.stderr).not.toContain('Exposure not found: tenants/red');
    expect(invalid.exitCode).toBe(2);
  },
);

test('kubeconfig -f prints a kubeconfig that connects through the gateway of `snicket run`', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  const blue = await lab.addTenant('blue');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.start();
  await lab.untilCondition('blue', 'Routed', /^True/);

  const args = ['kubeconfig', '-f', lab.folder, 'tenants/blue', '--by-address'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe('');
  expect(stdout).toContain(`server: https://127.0.0.1:${lab.port}\n`);
  expect(stdout).toContain(`tls-server-name: ${API_HOST}\n`);
  const { items } = await createClient(parseKubeconfig(stdout)).list(RESOURCES.node);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['worker-1']);
  expect(exitCode).toBe(0);
});

test('an invalid file does not affect the kubeconfig of another tenant', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  lab.write('red.yaml', 'kind: Exposure\n');

  const args = ['kubeconfig', '-f', lab.folder, '-n', 'tenants', 'blue'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe(
    'warning: red.yaml:1:1: not an object\nhint: set apiVersion, kind and metadata.name\n',
  );
  expect(stdout).toContain(`server: https://${API_HOST}:${lab.port}\n`);
  expect(exitCode).toBe(0);
});

test('dns -f names the location of an invalid file, and prints the records of the others', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  lab.write('red.yaml', 'kind: Exposure\n');

  const args = ['dns', '-f', lab.folder, '--format', 'hosts'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe(
    'error: red.yaml:1:1: not an object\nhint: set apiVersion, kind and metadata.name\n',
  );
  expect(stdout).toContain(`127.0.0.1 ${API_HOST}\n`);
  expect(exitCode).toBe(2);
});

test('kubeconfig -f fails if the Secret of the tenant is not in the folder', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  const text = await Bun.file(join(lab.folder, 'blue/tenant.yaml')).text();
  lab.write('blue/tenant.yaml', text.split('---\n').slice(0, 2).join('---\n'));

  const args = ['kubeconfig', '-f', lab.folder, 'tenants/blue'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toStartWith(
    'error: tenants/blue: the tenant has no kubeconfig: Secret tenants/blue-admin does not exist.\nhint: Create it, or correct its name in spec.controlPlane.',
  );
  expect(stderr).toContain('tenants/blue-admin');
  expect(stdout).toBe('');
  expect(exitCode).toBe(1);
});

test('render -f prints the plan of `snicket run` for its folder', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  const blue = await lab.addTenant('blue');

  const { exitCode, stdout, stderr } = await terminal.snicket(['render', '-f', lab.folder]);

  expect(stderr).toBe('');
  expect(stdout).toStartWith(
    '# Exposure tenants/blue: Edge shared, driver snicket, mode Passthrough\n',
  );
  expect(stdout).toContain(`port: ${blue.port}\n`);
  expect(stdout).toContain('# tenant cluster: EndpointSlice default/kubernetes\n');
  expect(exitCode).toBe(0);
});

test('render -f prints one Exposure even if a folder has its name', async () => {
  await using lab = new RunLab();
  await lab.addTenant('blue');
  await lab.addTenant('red');
  using terminal = new Terminal();
  // As if the folder itself were the working directory.
  mkdirSync(join(terminal.folder, 'blue'));

  for (const args of [
    ['-f', lab.folder, 'tenants/blue'],
    ['-f', lab.folder, 'blue', '-n', 'tenants'],
    ['tenants/blue', '-f', lab.folder],
  ]) {
    const { exitCode, stdout, stderr } = await terminal.snicket(['render', ...args]);

    expect(stderr).toBe('');
    expect(stdout.match(/^# Exposure \S+:/gm)).toEqual(['# Exposure tenants/blue:']);
    expect(exitCode).toBe(0);
  }
});

test('render -f reports a Secret that is not in the folder', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  const text = await Bun.file(join(lab.folder, 'blue/tenant.yaml')).text();
  lab.write('blue/tenant.yaml', text.split('---\n').slice(0, 2).join('---\n'));

  const { exitCode, stderr } = await terminal.snicket(['render', '-f', lab.folder]);

  expect(stderr).toMatch(/^error: tenants\/blue: .*blue-admin/);
  expect(exitCode).toBe(1);
});

test.each([
  [['dns'], 'error: cannot read gone: no such file\n'],
  [['kubeconfig', 'blue'], 'pass the folder of snicket run\n'],
])(
  'rejects a missing folder, and flags of a cluster together with -f: %j',
  async (args, message) => {
    using terminal = new Terminal();

    const missing = await terminal.snicket([...args, '-f', 'gone']);
    const combined = await terminal.snicket([...args, '-f', '.', '--context', 'here']);

    expect(missing.stderr).toContain(message);
    expect(missing.exitCode).toBe(2);
    expect(combined.stderr).toBe(
      'error: --context cannot be combined with -f\nhint: remove --context\n',
    );
    expect(combined.exitCode).toBe(2);
  },
);

describe('--state', () => {
  /** Writes the status file of the folder of a lab into folder `state`. */
  function writeState(terminal: Terminal, folder: string, items: readonly object[] = []): void {
    mkdirSync(join(terminal.folder, 'state'), { recursive: true });
    terminal.write('state/status.yaml', yamlText({ kind: 'List', folder, items }));
  }

  test.each([
    [['dns', '--format', 'hosts'], `127.0.0.1 ${API_HOST}\n`],
    [['doctor', '--timeout', '1ms'], `tenants/blue  ${API_HOST}:`],
    [['kubeconfig', 'tenants/blue'], `server: https://${API_HOST}:`],
    [['render'], '# Exposure tenants/blue: Edge shared, driver snicket, mode Passthrough\n'],
  ])('selects the folder to which the state belongs: %j', async (args, text) => {
    await using lab = new RunLab();
    using terminal = new Terminal();
    await lab.addTenant('blue');
    writeState(terminal, lab.folder);

    const { stdout, stderr } = await terminal.snicket([...args, '--state', 'state']);

    expect(stderr).toBe('');
    expect(stdout).toContain(text);
  });

  test('adds Exposures whose tenants are being cleaned up, and leaves out others that are not in the folder', async () => {
    await using lab = new RunLab();
    using terminal = new Terminal();
    await lab.addTenant('blue');
    const { apiVersion, kind } = RESOURCES.exposure;
    const spec = { controlPlane: { type: 'Endpoints', endpoints: { api: ['192.0.2.1:6443'] } } };
    const removed = { apiVersion, kind, metadata: { name: 'removed', namespace: 'tenants' }, spec };
    const deletionTimestamp = '2026-03-02T08:00:00Z';
    const metadata = { name: 'deleted', namespace: 'tenants', deletionTimestamp };
    writeState(terminal, lab.folder, [removed, { ...removed, metadata }]);

    const { stdout } = await terminal.snicket(['render', '--state', 'state']);

    expect(stdout.match(/^# Exposure \S+/gm)).toEqual([
      '# Exposure tenants/blue:',
      '# Exposure tenants/deleted',
    ]);
  });

  test.each([[['doctor']], [['dns']], [['render']], [['kubeconfig', 'blue']]])(
    'rejects the state of another folder than -f: %j',
    async (args) => {
      await using lab = new RunLab();
      using terminal = new Terminal();
      await lab.addTenant('blue');
      writeState(terminal, '/etc/other');

      const ended = await terminal.snicket([...args, '-f', lab.folder, '--state', 'state']);

      expect(ended.stderr).toBe(
        `error: the state state belongs to the folder /etc/other, not to ${lab.folder}\nhint: pass -f /etc/other, or --state with the state folder of ${lab.folder}\n`,
      );
      expect(ended.exitCode).toBe(2);
    },
  );

  test.each([[['doctor']], [['dns']], [['render']], [['diff']], [['kubeconfig', 'blue']]])(
    'rejects a state without the name of its folder, and flags of a cluster: %j',
    async (args) => {
      using terminal = new Terminal();
      terminal.write('status.yaml', 'kind: List\nitems: []\n');

      const nameless = await terminal.snicket([...args, '--state', '.']);
      const combined = await terminal.snicket([
        ...args,
        '-f',
        '.',
        '--state',
        '.',
        '--context',
        'a',
      ]);

      expect(nameless.stderr).toBe(
        'error: the state . does not name its folder\nhint: pass the folder with -f\n',
      );
      expect(nameless.exitCode).toBe(2);
      expect(combined.stderr).toBe(
        'error: --context cannot be combined with --state\nhint: remove --context\n',
      );
      expect(combined.exitCode).toBe(2);
    },
  );
});

test.each([
  [['dns']],
  [['doctor']],
  [['status']],
  [['render']],
  [['diff']],
  [['kubeconfig', 'blue']],
])('without a kubeconfig, the hint names the flags for `snicket run`: %j', async (args) => {
  using terminal = new Terminal();

  const { exitCode, stderr } = await terminal.snicket(args);

  expect(stderr).toStartWith('error: no cluster configured: ');
  expect(stderr).toEndWith(
    '\nhint: pass --kubeconfig FILE; for snicket run, pass its folder or its state: -f DIR or --state DIR\n',
  );
  expect(exitCode).toBe(2);
});

test('reports a folder that cannot be read in time', async () => {
  using terminal = new Terminal();
  const tooLate = AbortSignal.abort(new DOMException('too late', 'TimeoutError'));

  const reading = objectsInFolder(new TestIo(), terminal.folder, tooLate);

  await expect(reading).rejects.toMatchObject({
    message: `cannot read folder ${terminal.folder}: timed out after 60s`,
    hint: 'check that its disk or network responds, and try again',
    exitCode: 2,
  });
});
