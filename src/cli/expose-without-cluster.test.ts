import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const SECRETS = ['--ca-secret', 'blue-ca', '--kubeconfig-secret', 'blue-admin'];
const SECRETS_IN_SPEC = {
  caSecretRef: { name: 'blue-ca' },
  kubeconfigSecretRef: { name: 'blue-admin' },
};

describe('without any cluster, a dry run', () => {
  let terminal: Terminal;
  beforeAll(() => void (terminal = new Terminal()));
  afterAll(() => terminal[Symbol.dispose]());

  test.each([
    [
      ['--endpoints', '10.0.0.5:6443', '--name', 'blue', ...SECRETS],
      {
        controlPlane: {
          type: 'Endpoints',
          endpoints: { api: ['10.0.0.5:6443'] },
          ...SECRETS_IN_SPEC,
        },
      },
      [
        'a default Edge exists, with a domain to derive hosts from',
        'the Secrets exist, with the keys',
      ],
    ],
    [
      ['service/blue', ...SECRETS, '--edge', 'shared'],
      {
        edgeRef: { name: 'shared' },
        controlPlane: { type: 'Service', service: { name: 'blue' }, ...SECRETS_IN_SPEC },
      },
      [
        'Edge shared exists, with a domain',
        'Service tenants/blue exists; set apiPort if its API port is not 6443',
      ],
    ],
    [
      ['tenantcontrolplane.kamaji.clastix.io/blue', '--api-host', 'blue.example.com'],
      {
        controlPlane: {
          type: 'Object',
          objectRef: {
            group: 'kamaji.clastix.io',
            kind: 'TenantControlPlane',
            name: 'blue',
          },
        },
        hosts: { api: 'blue.example.com' },
      },
      [
        'a default Edge exists, and blue.example.com is not used yet',
        'TenantControlPlane tenants/blue exists, served as',
      ],
    ],
  ])('prints the Exposure, and says what was not looked at: %j', async (words, spec, unchecked) => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['expose', ...words, '-n', 'tenants', '--dry-run'],
    ]);

    expect(parse(stdout)).toEqual({
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: { name: 'blue', namespace: 'tenants' },
      spec,
    });
    expect(stderr).toMatch(
      /^warning: no cluster configured: .*\nhint: .*\nnote: not checked: namespace tenants exists, without Exposure tenants\/blue\n/,
    );
    for (const one of unchecked) expect(stderr).toMatch(new RegExp(`^note: .* ${one}`, 'm'));
    expect(exitCode).toBe(0);
  });

  test.each([
    [
      ['service/blue'],
      "error: cannot prompt without a terminal: Which Secret has a kubeconfig of the tenant's administrator?\nhint: pass --kubeconfig-secret",
    ],
    [
      ['--endpoints', '10.0.0.5:6443'],
      'error: cannot prompt without a terminal: Name of the tenant?\nhint: pass --name',
    ],
    [
      ['tenantcontrolplane/blue'],
      'error: kind tenantcontrolplane is ambiguous\nhint: pass tenantcontrolplane.kamaji.clastix.io/blue or tenantcontrolplane.steward.butlerlabs.dev/blue',
    ],
    [
      ['foo/blue'],
      'error: unknown kind of control plane: foo\nhint: use one of TenantControlPlane, Cluster, ClusterDeployment, K0smotronControlPlane, Service, and pass a namespace as -n NAMESPACE',
    ],
    [['blue'], 'no cluster configured: '],
    [[], '; without a cluster, --dry-run requires KIND/NAME or --endpoints'],
    [['service/blue', ...SECRETS, '--kubeconfig', 'gone'], 'kubeconfig not found'],
  ])('refuses what does not say enough: %j', async (words, sentence) => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['expose', ...words, '--dry-run']);

    expect(stderr).toContain(sentence);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('is needed: nothing can be written', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      'expose',
      'service/blue',
      ...SECRETS,
    ]);

    expect(stderr).toStartWith('error: no cluster configured: ');
    expect(stderr).not.toContain('--dry-run');
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

test('where a cluster does not answer, a dry run prints what it can, and ends as any other command', async () => {
  await using server = await TestApiServer.start();
  using terminal = new Terminal(server);
  await server.goDown();

  const whole = await terminal.snicket(['expose', 'service/blue', ...SECRETS, '--dry-run']);
  const less = await terminal.snicket(['expose', 'service/blue', '--dry-run']);

  expect(whole.stdout).toContain('kind: Exposure\n');
  // The namespace of the context.
  expect(whole.stdout).toContain('namespace: tenants\n');
  expect(whole.stderr).toMatch(
    /^warning: the management cluster does not answer\n(?:note: .*\n)+error: .*\nhint: check that the API server is running/,
  );
  expect(whole.exitCode).toBe(2);
  expect(less.stdout).toBe('');
  expect(less.stderr).toMatch(/^note: to print the Exposure .* pass --kubeconfig-secret\nerror: /);
  expect(less.exitCode).toBe(2);
  await server.comeUp();
});
