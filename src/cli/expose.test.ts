import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { silentPort } from '../net/testing/silent-port.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import type { ApiObject } from '../kube/store/object-store.ts';
import { objectOf, secretOf } from '../operator/testing/objects.ts';
import { until } from '../operator/testing/until.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import { makeCa, type TestCa } from '../pki/testing/test-ca.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import {
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from '../providers/testing/provider-objects.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let client: KubeClient;
let terminal: Terminal;
let ca: TestCa;
beforeAll(async () => {
  server = await TestApiServer.start({
    resources: [...Object.values(RESOURCES), ...Object.values(PROVIDER_RESOURCES)],
  });
  client = createClient(server.access);
  terminal = new Terminal(server);
  ca = await makeCa();
  const other = await makeCa();
  for (const name of ['tenants', 'alone', 'closed', 'empty']) {
    server.seed(objectOf('Namespace', { name }));
  }
  const annotations = { 'snicket.dev/is-default': 'true' };
  const shared = { driver: 'snicket', domain: 'example.test', addresses: ['203.0.113.10'] };
  server.seed(
    objectOf('Edge', { name: 'shared', annotations }, { spec: shared }),
    objectOf('Edge', { name: 'bare' }, { spec: { driver: 'snicket' } }),
    service('tenants', 'blue'),
    service('tenants', 'white'),
    service('tenants', 'web', [{ name: 'https', port: 443 }]),
    ...secretsOf('tenants', 'blue', ca),
    ...secretsOf('tenants', 'white', ca),
    secretOf({ name: 'white-front-proxy-ca', namespace: 'tenants' }, caFiles(other)),
    secretOf({ name: 'nothing', namespace: 'tenants' }, { 'admin.conf': 'clusters of stars' }),
  );
  await createProviderObject(PROVIDER_RESOURCES.kamaji, readyTenantControlPlane('kamaji', 'blue'));
  await createProviderObject(PROVIDER_RESOURCES.k0smotron, k0smotronCluster('red'));
  const green = k0smotronControlPlane('green');
  await createProviderObject(PROVIDER_RESOURCES.k0smotronControlPlane, green);
  // As k0smotron creates it from the other object.
  const { apiVersion, kind } = green;
  const ownerReferences = [{ apiVersion, kind, name: 'green-cp', uid: 'uid-of-green-cp' }];
  const made = k0smotronCluster('green');
  await createProviderObject(PROVIDER_RESOURCES.k0smotron, {
    ...made,
    metadata: { ...made.metadata, ownerReferences },
  });
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** Creates a control plane object of a provider, with the status that its controller sets. */
async function createProviderObject(resource: Resource, object: ApiObject): Promise<void> {
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  const { status } = object as { readonly status?: unknown };
  server.seed({ ...object, metadata });
  await client.patch(resource, metadata, 'merge', { status }, { subresource: 'status' });
}

function service(namespace: string, name: string, ports?: readonly object[]) {
  const defaultPorts = [
    { name: 'kube-apiserver', port: 6443, protocol: 'TCP' },
    { name: 'konnectivity-server', port: 8132, protocol: 'TCP' },
  ];
  return objectOf('Service', { name, namespace }, { spec: { ports: ports ?? defaultPorts } });
}

function caFiles({ certificate, key }: TestCa): Record<string, string> {
  return { 'ca.crt': certificate, 'ca.key': key };
}

function kubeconfig(user = 'admin'): string {
  return writeKubeconfig({
    server: 'https://10.0.0.5:6443',
    ca: ca.certificate,
    credentials: { token: 'a' },
    names: { cluster: 'tenant', user },
  });
}

function secretsOf(namespace: string, name: string, authority: TestCa) {
  return [
    secretOf({ name: `${name}-ca`, namespace }, caFiles(authority)),
    secretOf({ name: `${name}-admin-kubeconfig`, namespace }, { 'admin.conf': kubeconfig() }),
    secretOf(
      { name: `${name}-scheduler`, namespace },
      { 'scheduler.conf': kubeconfig('scheduler') },
    ),
  ];
}

async function remove(name: string, namespace = 'tenants'): Promise<void> {
  await client.delete(RESOURCES.exposure, { name, namespace });
}

test('a dry run with a missing Edge prints only the error', async () => {
  const args = ['expose', 'blue', '--edge', 'gone', '--dry-run'];

  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stdout).toBe('');
  expect(stderr).toContain('EdgeNotFound: Edge gone does not exist.');
  expect(exitCode).toBe(1);
});

describe('a control plane of a provider', () => {
  test('is exposed without prompts, and the output has its endpoints', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      'expose',
      'tenantcontrolplane/blue',
    ]);

    expect(stderr).toBe('');
    expect(stdout).toBe(`exposure.snicket.dev/blue created

API           tenants-blue.k8s.example.test:443
Konnectivity  tenants-blue.konnectivity.example.test:443

Create DNS records that point to Edge shared (203.0.113.10):
  snicket dns tenants/blue
Check the status:
  snicket status tenants/blue
`);
    expect(exitCode).toBe(0);
    expect(
      server.read(RESOURCES.exposure, { name: 'blue', namespace: 'tenants' })?.['spec'],
    ).toEqual({
      controlPlane: {
        type: 'Object',
        objectRef: { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'blue' },
      },
    });
    await remove('blue');
  });

  test('flags determine the fields of the Exposure', async () => {
    const { exitCode, stdout } = await terminal.snicket([
      ...[
        'expose',
        'clusters.k0smotron.io/red',
        '--dry-run',
        '--name',
        'scarlet',
        '--edge',
        'bare',
      ],
      ...['--api-host', 'red.test', '--konnectivity-host', 'k.red.test'],
      ...['--mode', 'terminate', '--prepare', 'Report', '--yes'],
    ]);

    expect(parse(stdout)).toMatchObject({
      kind: 'Exposure',
      metadata: { name: 'scarlet', namespace: 'tenants' },
      spec: {
        edgeRef: { name: 'bare' },
        prepare: 'Report',
        worker: { mode: 'Terminate' },
        hosts: { api: 'red.test', konnectivity: 'k.red.test' },
      },
    });
    // Its Secrets do not exist, which the plan reports.
    expect(exitCode).toBe(1);
    expect(server.writes().filter(({ verb }) => verb === 'create')).toHaveLength(1);
  });
});

describe('a Service', () => {
  test('is exposed with its ports, and with the Secrets that match each other', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      'expose',
      'svc/white',
      '--dry-run',
    ]);

    expect(stderr).toBe('');
    expect(parse(stdout)).toEqual({
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: { name: 'white', namespace: 'tenants' },
      spec: {
        controlPlane: {
          type: 'Service',
          service: { name: 'white', konnectivityPort: 8132 },
          caSecretRef: { name: 'white-ca', certificateKey: 'ca.crt', privateKeyKey: 'ca.key' },
          kubeconfigSecretRef: { name: 'white-admin-kubeconfig' },
        },
      },
    });
    expect(exitCode).toBe(0);
  });

  test('is found by its name without a kind', async () => {
    const byName = await terminal.snicket(['expose', 'white', '--dry-run']);
    const byKind = await terminal.snicket(['expose', 'service/white', '--dry-run']);

    expect(byName).toEqual(byKind);
    expect(byName.stdout).toContain('name: white-admin-kubeconfig');
  });

  test('is not overwritten, with or without a kind', async () => {
    await terminal.snicket(['expose', 'service/white']);

    const same = await terminal.snicket(['expose', 'white']);
    const other = await terminal.snicket(['expose', 'white', '--api-host', 'w.test']);

    await remove('white');
    expect(same.stderr).toBe('exposure.snicket.dev/white unchanged\n');
    expect(same.exitCode).toBe(0);
    expect(other.stderr).toContain('spec.hosts.api: not set -> "w.test"');
    expect(other.exitCode).toBe(1);
  });

  test('needs the names of its Secrets if the user is not allowed to list them', async () => {
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    server.inject(refusal, { verb: 'list', plural: 'secrets' }, 9);
    const secretFlags = [
      '--ca-secret',
      'white-ca',
      '--kubeconfig-secret',
      'white-admin-kubeconfig',
    ];

    const withoutFlags = await terminal.snicket(['expose', 'service/white', '--dry-run']);
    const withFlags = await terminal.snicket([
      ...['expose', 'service/white', '--dry-run', ...secretFlags],
    ]);

    server.clearFaults();
    expect(withoutFlags.stderr).toBe(
      "error: required flag --kubeconfig-secret is not set (the Secret with the tenant's admin kubeconfig)\n",
    );
    expect(withoutFlags.exitCode).toBe(2);
    expect(withFlags.stdout).toContain('certificateKey: ca.crt');
    expect(withFlags.exitCode).toBe(0);
  });
});

test('--endpoints are exposed with the Secrets in flags', async () => {
  const { exitCode, stdout } = await terminal.snicket([
    ...['expose', '--endpoints', '10.0.0.5:6443,10.0.0.6:6443', '--name', 'metal', '--dry-run'],
    ...['--ca-secret', 'white-ca', '--kubeconfig-secret', 'white-admin-kubeconfig', '-o', 'json'],
  ]);

  const { spec } = JSON.parse(stdout) as { spec: { controlPlane: object } };
  expect(spec.controlPlane).toMatchObject({
    endpoints: { api: ['10.0.0.5:6443', '10.0.0.6:6443'] },
  });
  expect(exitCode).toBe(0);
});

describe('without a terminal', () => {
  test('a missing value is an error that names the flag or argument', async () => {
    const withoutName = await terminal.snicket(['expose']);
    const bare = await terminal.snicket(['expose', 'blue', '--edge', 'bare']);

    expect(withoutName.stderr).toBe(
      'error: required argument KIND/NAME is not set (the control plane, with -n for its namespace)\nhint: pass one of TenantControlPlane tenants/blue (kamaji.clastix.io), Cluster tenants/red (k0smotron.io), K0smotronControlPlane tenants/green-cp (controlplane.cluster.x-k8s.io), Service tenants/white\n',
    );
    expect(withoutName.exitCode).toBe(2);
    expect(bare.stderr).toContain(
      'error: required flag --api-host is not set (the API host, because Edge bare has no domain)',
    );
    expect(bare.exitCode).toBe(2);
  });

  test('an Exposure whose plan has errors is created only with --yes', async () => {
    const refused = await terminal.snicket(['expose', 'cluster/red']);
    const forced = await terminal.snicket(['expose', 'cluster/red', '--yes']);

    expect(refused.stderr).toMatch(/^error: tenants\/red: \w+: /);
    expect(refused.stderr).toEndWith('nothing created; correct the errors above or pass --yes\n');
    expect(refused.exitCode).toBe(1);
    expect(forced.stdout).toContain('exposure.snicket.dev/red created');
    expect(forced.exitCode).toBe(0);
    await remove('red');
  });

  test.each([
    [['expose', 'gone'], /control plane not found: tenants\/gone\nhint: pass KIND\/NAME/, 2],
    [
      ['expose', 'web'],
      /control plane not found: tenants\/web\nhint: if Service tenants\/web is a control plane, pass service\/web/,
      2,
    ],
    [
      ['expose', 'foo/x'],
      /unknown kind of control plane: foo\nhint: use one of TenantControlPlane, .*Service/,
      2,
    ],
    [
      ['expose', 'blue', '-n', 'alone'],
      /control plane not found: alone\/blue\nhint: found in another namespace: -n tenants/,
      2,
    ],
    [['expose', '-n', 'empty'], /no control planes without an Exposure in namespace empty/, 2],
    [
      ['expose', 'blue', '--edge', 'gone', '--dry-run'],
      /EdgeNotFound: Edge gone does not exist\./,
      1,
    ],
    [
      ['expose', '--endpoints', '10.0.0.5:6443', '--name', 'a', '-n', 'no'],
      /namespace not found: no\nhint: create it/,
      2,
    ],
    [['expose', 'a/b/c'], /must be KIND\/NAME or NAME/, 2],
    [['expose', '--endpoints', 'nonsense'], /nonsense/, 2],
    [
      ['expose', 'blue', '--endpoints', '10.0.0.5:6443'],
      /--endpoints cannot be combined with the name of a control plane/,
      2,
    ],
    [['expose', 'blue', '--wait', '--dry-run'], /--dry-run and --wait are mutually exclusive/, 2],
  ])('%j', async (args, sentence, code) => {
    const { exitCode, stderr } = await terminal.snicket(args);

    expect(stderr).toMatch(sentence);
    expect(exitCode).toBe(code);
  });
});

describe('an existing Exposure', () => {
  beforeAll(async () => {
    await terminal.snicket(['expose', 'blue', '--mode', 'passthrough']);
  });
  afterAll(async () => remove('blue'));

  test('is printed with exit code 0 if it equals the requested one', async () => {
    const args = ['expose', 'blue', '--mode', 'passthrough', '--prepare', 'Patch'];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stderr).toBe('exposure.snicket.dev/blue unchanged\n');
    expect(parse(stdout)).toMatchObject({
      metadata: { name: 'blue', namespace: 'tenants' },
      spec: { worker: { mode: 'Passthrough' } },
    });
    expect(stdout).not.toContain('uid');
    expect(exitCode).toBe(0);
  });

  test('is printed without the annotations of the operator', async () => {
    const annotate = async (annotations: Record<string, string | null>) =>
      client.patch(RESOURCES.exposure, { name: 'blue', namespace: 'tenants' }, 'merge', {
        metadata: { annotations },
      });
    await annotate({ 'snicket.dev/preparation': '{"version":1}', 'example.com/note': 'a' });

    const args = ['expose', 'blue', '--mode', 'passthrough'];
    const texts = [
      await terminal.snicket(args),
      await terminal.snicket([...args, '-o', 'json']),
    ].map(({ stdout }) => stdout);

    await annotate({ 'snicket.dev/preparation': null, 'example.com/note': null });
    for (const text of texts) {
      expect(parse(text)).toHaveProperty('metadata.annotations', { 'example.com/note': 'a' });
    }
  });

  test('is reported with its differences, and not overwritten', async () => {
    const before = server.read(RESOURCES.exposure, { name: 'blue', namespace: 'tenants' });

    const { exitCode, stderr } = await terminal.snicket(['expose', 'blue', '--api-host', 'b.test']);

    expect(stderr).toContain(
      'already exists and differs:\n  spec.hosts.api: not set -> "b.test"\n',
    );
    expect(stderr).toContain('  spec.worker.mode: "Passthrough" -> not set\n');
    expect(exitCode).toBe(1);
    expect(server.read(RESOURCES.exposure, { name: 'blue', namespace: 'tenants' })).toEqual(before);
  });

  test('with another name for the same control plane is an error', async () => {
    const { exitCode, stderr } = await terminal.snicket(['expose', 'blue', '--name', 'azure']);

    expect(stderr).toContain(
      'error: TenantControlPlane tenants/blue is already exposed by Exposure tenants/blue\nhint: use that Exposure, or delete it first',
    );
    expect(exitCode).toBe(2);
  });
});

describe('at a terminal', () => {
  test('prompts for missing values, prints the Exposure, and asks for confirmation', async () => {
    const session = terminal.open(['expose', '--edge', 'bare'], 80);
    const shows = async (what: string) =>
      until(`it shows ${what}`, () => session.text.replaceAll('\r', '').includes(what));

    await shows('  4) Service tenants/white\nNumber [1]: ');
    session.type('9\n');
    await shows('Enter a number from 1 to 4.\nNumber [1]: ');
    session.type('4\n');
    await shows('Edge bare has no domain. API host? ');
    session.type('nonsense\n');
    await shows('The host must be a DNS name, such as blue.example.com.');
    session.type('w.example.test\n');
    await shows('Konnectivity host, if any? ');
    session.type('k.example.test\n');
    await shows('Create it? [Y/n] ');
    expect(session.text).toContain('konnectivity: k.example.test');
    session.type('\n');

    expect(await session.ended).toBe(0);
    expect(session.text).toContain('exposure.snicket.dev/white created');
    await remove('white');
  });

  test('asks for confirmation of the only control plane', async () => {
    server.seed(service('alone', 'single'), ...secretsOf('alone', 'single', ca));
    const prompt = 'Expose Service alone/single, the only one without an Exposure? [Y/n] ';
    const declined = terminal.begin(['expose', '-n', 'alone'], 120);
    await until('it asks', () => declined.text.includes(prompt));
    declined.type('n\n');
    const accepted = terminal.begin(['expose', '-n', 'alone', '--yes'], 120);
    await until('it asks', () => accepted.text.includes(prompt));
    accepted.type('\n');

    expect(await declined.ended).toBe(0);
    expect(declined.text).toContain('nothing created');
    expect(await accepted.ended).toBe(0);
    expect(accepted.text).toContain('exposure.snicket.dev/single created');
    await remove('single', 'alone');
  });

  test('creates nothing if the answer is no, or if the input ends', async () => {
    const session = terminal.begin(['expose', 'blue'], 80);
    await until('it asks', () => session.text.includes('[Y/n]'));
    session.type('n\n');
    const silent = terminal.open(['expose', 'blue'], 80);
    await until('it asks', () => silent.text.includes('[Y/n]'));
    silent.type('\u0004');

    expect(await session.ended).toBe(0);
    expect(session.text).toContain('nothing created');
    expect(await silent.ended).toBe(2);
    expect(silent.text).toContain('error: no answer\r\nhint: pass --yes');
    expect(server.read(RESOURCES.exposure, { name: 'blue', namespace: 'tenants' })).toBeUndefined();
  });
});

describe('--wait', () => {
  async function report(
    status: 'True' | 'False',
    reason: string,
    reachable: 'True' | 'False' = 'True',
  ): Promise<void> {
    const lastTransitionTime = '2026-03-02T08:00:00Z';
    const message = 'any message';
    const conditions = [
      { type: 'Reachable', status: reachable, reason: 'Probed', message, lastTransitionTime },
      { type: 'Ready', status, reason, message, lastTransitionTime },
    ];
    const options = { subresource: 'status' } as const;
    const key = { name: 'blue', namespace: 'tenants' };
    await client.patch(RESOURCES.exposure, key, 'merge', { status: { conditions } }, options);
  }

  test('prints changes to standard error until the Exposure is Ready', async () => {
    const session = terminal.begin(['expose', 'blue', '--yes', '--wait'], 80);
    await until('it waits', () => session.text.includes('NotObserved'));
    await report('False', 'TenantStarting');
    await until('it tells', () => session.text.includes('TenantStarting'));
    await report('True', 'Ready', 'False');
    await until('it waits for Reachable', () => session.text.includes('Probed'));
    await report('True', 'Ready');

    expect(await session.ended).toBe(0);
    expect(session.text).toMatch(/\d+s {2}Ready\r\n$/);
    await remove('blue');
  });

  test('fails without a timeout if the Exposure is deleted', async () => {
    const session = terminal.begin(['expose', 'blue', '--yes', '--wait'], 80);
    await until('it waits', () => session.text.includes('NotObserved'));

    await remove('blue');

    expect(await session.ended).toBe(1);
    expect(session.text).toEndWith('error: the Exposure was deleted\r\n');
    expect(session.text).not.toContain('seconds');
  });

  test('prints the conditions after the timeout', async () => {
    const args = ['expose', 'blue', '--wait', '--timeout', '1s'];

    const { exitCode, stdout, stderr } = await terminal.snicket(args);

    expect(stdout).toContain('exposure.snicket.dev/blue created');
    expect(stderr).toContain('error: timed out after 1s: the Exposure is not Ready\n');
    expect(stderr).toContain('NotObserved (Edge shared, Ready)');
    expect(exitCode).toBe(1);
    await remove('blue');
  });

  test('times out while a connection to an unreachable host is being opened', async () => {
    await using lost = await TestApiServer.start();
    const spec = { driver: 'snicket', domain: 'example.test' };
    lost.seed(
      objectOf('Namespace', { name: 'tenants' }),
      objectOf('Edge', { name: 'a' }, { spec }),
    );
    using user = new Terminal(lost);
    const session = user.open(
      [
        ...['expose', '--endpoints', '10.0.0.5:6443', '--name', 'metal', '--yes'],
        ...['--ca-secret', 'ca', '--kubeconfig-secret', 'admin', '--wait', '--timeout', '10s'],
      ],
      80,
    );
    await until('it watches', () => lost.openWatches > 0);

    lost.stopAccepting();
    using _gone = silentPort(Number(new URL(lost.url).port));
    // The command watches again, on a new connection. Bun cannot cancel that, and times out after two minutes.
    lost.endWatches();

    expect(await session.ended).toBe(1);
    expect(session.text).toContain('error: timed out after 10s: the Exposure is not Ready');
  });
});
