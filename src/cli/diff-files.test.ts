import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tenantRouteName } from '../edges/names.ts';
import { RESOURCES } from '../kube/resource.ts';
import { LAB_EDGES } from '../operator/testing/edges.ts';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import type { LabTenant } from '../operator/testing/lab-tenant.ts';
import { TENANTS } from '../operator/testing/namespaces.ts';
import { yamlText } from '../manifests/yaml-text.ts';
import { RunLab } from '../standalone/testing/run-lab.ts';
import { KUBERNETES } from '../tenant/endpoints/kubernetes-endpoints.ts';
import type { Ended } from './testing/in-process.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const IMAGE = ['--proxy-image', 'snicket.test/snicket:1'];

/** Returns a lab whose operator has reconciled Exposure blue, and the objects to write into files. */
async function exposedLab() {
  const lab = await OperatorLab.start({ hasSockets: true, edge: LAB_EDGES.haproxy.spec });
  lab.management.seed(...LAB_EDGES.haproxy.objects);
  const { port } = await lab.addExposed('blue');
  await lab.stopOperator();
  const exposure = await lab.user.get(RESOURCES.exposure, { name: 'blue', namespace: TENANTS });
  const { items } = await lab.user.list(RESOURCES.edge);
  return { lab, port, exposure: asWritten(exposure!), edge: asWritten(items[0]!) };
}

/** Returns an object as a user writes it into a file. */
function asWritten(object: object): object {
  const { apiVersion, kind, metadata, spec } = object as Record<string, unknown> & {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  };
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, spec };
}

function routeName(exposure: string, host: string): string {
  return tenantRouteName(exposure, { edge: 'shared', driver: 'haproxy', host });
}

describe('diff -f with files', () => {
  let lab: OperatorLab;
  let terminal: Terminal;
  let port: number;
  let exposure: object;
  let edge: object;
  beforeAll(async () => {
    ({ lab, port, exposure, edge } = await exposedLab());
    terminal = new Terminal(lab.management);
  });
  afterAll(async () => {
    terminal[Symbol.dispose]();
    await lab[Symbol.asyncDispose]();
  });

  test('shows no changes for files that are applied already', async () => {
    terminal.write('blue.yaml', yamlText(exposure));
    terminal.write('edge.yaml', yamlText(edge));

    for (const args of [['blue.yaml'], ['edge.yaml', 'blue.yaml', 'blue'], ['edge.yaml', '-A']]) {
      const ended = await terminal.snicket(['diff', '-f', ...args, ...IMAGE]);

      expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    }
  });

  test('compares existing and new Exposures as if the files were applied', async () => {
    const red = await lab.addTenant('red');
    const { spec } = exposure as { readonly spec: object };
    const hosts = { hosts: { api: 'blue.example.test' } };
    const text = yamlText(exposure);
    terminal.write(
      'both.yaml',
      `${yamlText({ ...exposure, spec: { ...spec, ...hosts } })}---\n${text.replaceAll('blue', 'red').replaceAll(String(port), String(red.port))}`,
    );

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['diff', '-f', 'both.yaml', '--only', 'management', ...IMAGE],
    ]);

    expect(stderr).toStartWith('warning: tenants/blue: PreviousRoutesRemain: ');
    expect(stdout).toBe(`Exposure tenants/blue
  + management TenantRoute tenants/${routeName('blue', 'blue.example.test')}
  ~ management Ingress tenants/snicket-blue.haproxy
      ~ spec.rules[0].host: tenants-blue.k8s.example.test -> blue.example.test
  ~ management TenantRoute tenants/${routeName('blue', 'tenants-blue.k8s.example.test')}
      + metadata.labels.snicket.dev/previous: "true"
  - management TenantRoute tenants/${routeName('blue', 'tenants-blue.k8s.example.test')} (not before the Exposure is Ready with the driver of its Edge: clients may still use the previous routes)
Exposure tenants/red
  + management TenantRoute tenants/${routeName('red', 'tenants-red.k8s.example.test')}
  + management Ingress tenants/snicket-red.haproxy
`);
    expect(exitCode).toBe(1);
    // Nothing was written.
    const key = { name: 'blue', namespace: TENANTS };
    expect(JSON.stringify(await lab.user.get(RESOURCES.exposure, key))).not.toContain(
      'blue.example',
    );
  });

  test('shows what an Edge changes for the Exposures of the cluster', async () => {
    terminal.write('edge.yaml', yamlText(edge).replace('example.test', 'example.org'));
    const args = ['diff', '-f', 'edge.yaml', '--only', 'management', ...IMAGE];

    const none = await terminal.snicket(args);
    const all = await terminal.snicket([...args, '-A']);
    const named = await terminal.snicket([...args, 'tenants/blue']);

    expect(none.stderr).toBe(
      'error: no Exposures in these files\nhint: add a file with an Exposure, or pass -A for all Exposures of the cluster\n',
    );
    expect(none.exitCode).toBe(2);
    expect(all.stdout).toContain('tenants-blue.k8s.example.test -> tenants-blue.k8s.example.org');
    expect(all.exitCode).toBe(1);
    expect(named).toEqual(all);
  });

  test('rejects invalid files', async () => {
    terminal.write('blue.yaml', yamlText({ ...exposure, spec: { nope: 1 } }));

    const { exitCode, stdout, stderr } = await terminal.snicket(['diff', '-f', 'blue.yaml']);

    expect(stderr).toStartWith('error: blue.yaml:');
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

describe('diff -f with the folder of `snicket run`', () => {
  let lab: RunLab;
  let blue: LabTenant;
  beforeAll(async () => {
    lab = new RunLab();
    blue = await lab.addTenant('blue');
    await lab.addTenant('red');
    await lab.start(...IMAGE);
    for (const name of ['blue', 'red']) await lab.untilCondition(name, 'WorkersReady', /^True/);
    await lab.stop();
  });
  afterAll(async () => lab[Symbol.asyncDispose]());

  /**
   * Returns a terminal, a copy of the folder that a test may change, and the arguments that compare it with the state.
   */
  function copied() {
    const terminal = new Terminal();
    const folder = join(terminal.folder, 'tenants.d');
    cpSync(lab.folder, folder, { recursive: true });
    return { terminal, folder, args: ['diff', '-f', folder, '--state', lab.state, ...IMAGE] };
  }

  test('prints the changes, or nothing without changes', async () => {
    const { terminal, folder, args } = copied();
    using _terminal = terminal;
    const slice = await blue.user.get(RESOURCES.endpointSlice, KUBERNETES);
    const { endpoints } = slice as unknown as { readonly endpoints: unknown };

    const before = await terminal.snicket(args);
    expect(before).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const text = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    terminal.write('tenants.d/edge.yaml', text.replace('example.test', 'example.org'));
    const elsewhere = { endpoints: [{ addresses: ['192.0.2.1'] }] };
    await blue.user.patch(RESOURCES.endpointSlice, KUBERNETES, 'merge', elsewhere);
    let changed: Ended;
    try {
      changed = await terminal.snicket([...args, 'tenants/blue']);
    } finally {
      // The tests share this tenant.
      await blue.user.patch(RESOURCES.endpointSlice, KUBERNETES, 'merge', { endpoints });
    }

    expect(changed.stdout).toContain('+ management TenantRoute tenants/blue-');
    expect(changed.stdout).toContain('~ endpoints[0].addresses[0]: 192.0.2.1 -> ');
    expect(changed.exitCode).toBe(1);
  });

  test('shows the cleanup of a tenant whose file was removed', async () => {
    const { terminal, folder, args } = copied();
    using _terminal = terminal;
    const text = readFileSync(join(folder, 'blue/tenant.yaml'), 'utf8');
    const [exposure = '', ...secrets] = text.split('---\n');
    terminal.write('tenants.d/blue/tenant.yaml', secrets.join('---\n'));

    const { stdout, exitCode } = await terminal.snicket(args);

    expect(exposure).toContain('kind: Exposure');
    expect(stdout).toContain('  - tenant     DaemonSet kube-system/snicket-proxy\n');
    expect(exitCode).toBe(1);
  });

  test('shows the cleanup of a tenant whose folder was removed, and warns that its objects are not shown', async () => {
    const { terminal, folder, args } = copied();
    using _terminal = terminal;
    rmSync(join(folder, 'blue'), { recursive: true });

    const bothClusters = await terminal.snicket(args);
    const management = await terminal.snicket([...args, '--only', 'management']);

    expect(bothClusters.stdout).toContain('  - management Exposure tenants/blue\n');
    expect(bothClusters.stderr).toStartWith(
      'warning: tenants/blue: SecretMissing: Objects to be deleted from the tenant are not shown. Secret tenants/blue-ca does not exist.\nhint: To show them, keep its Secrets in the folder and remove only the Exposure.\n',
    );
    expect(bothClusters.exitCode).toBe(1);
    expect(management.stdout).toBe(bothClusters.stdout);
    expect(management.exitCode).toBe(1);
  });

  test('treats a removed Edge as deleted, and an empty file or folder as a fault', async () => {
    const { terminal, folder, args } = copied();
    using _terminal = terminal;
    const edge = readFileSync(join(folder, 'edge.yaml'), 'utf8');

    rmSync(join(folder, 'edge.yaml'));
    const withoutEdge = await terminal.snicket(args);
    terminal.write('tenants.d/edge.yaml', edge);
    terminal.write('tenants.d/blue/tenant.yaml', '');
    const emptied = await terminal.snicket(args);

    expect(withoutEdge.stderr).toContain(
      'error: tenants/blue: EdgeNotFound: Field spec.edgeRef is not set, and no Edge exists.',
    );
    expect(withoutEdge.exitCode).toBe(2);
    expect(emptied.stderr).toContain('now empty; its previous objects stay applied');
    expect(emptied.stdout).toBe('');
  });

  test.each([
    [['-f', '.'], 'error: cannot read nowhere/status.yaml: ENOENT'],
    [
      ['-f', '.', '--state', 'gone'],
      'error: cannot read gone/status.yaml: ENOENT\nhint: pass the --state folder of `snicket run`, and check that it is running',
    ],
    [
      ['-f', 'a.yaml', '--state', '.'],
      'error: --state requires the folder of snicket run in -f\nhint: remove --state',
    ],
    [['--state', '.'], 'error: cannot read status.yaml: ENOENT'],
    [[], 'for snicket run, pass its folder or its state: -f DIR or --state DIR'],
  ])('rejects %j', async (args, message) => {
    using terminal = new Terminal();

    const env = { STATE_DIRECTORY: 'nowhere' };
    const { exitCode, stderr } = await terminal.snicket(['diff', ...args], '', env);

    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });
});
