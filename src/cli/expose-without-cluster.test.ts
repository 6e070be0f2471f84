import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const SECRET_FLAGS = ['--ca-secret', 'blue-ca', '--kubeconfig-secret', 'blue-admin'];
const SECRET_REFS = {
  caSecretRef: { name: 'blue-ca' },
  kubeconfigSecretRef: { name: 'blue-admin' },
};

describe('expose without a cluster', () => {
  let terminal: Terminal;
  beforeAll(() => void (terminal = new Terminal()));
  afterAll(() => terminal[Symbol.dispose]());

  test.each([
    [
      ['--endpoints', '10.0.0.5:6443', '--name', 'blue', ...SECRET_FLAGS],
      {
        controlPlane: {
          type: 'Endpoints',
          endpoints: { api: ['10.0.0.5:6443'] },
          ...SECRET_REFS,
        },
      },
      [
        'whether a default Edge exists with a domain to derive hosts from',
        'whether the Secrets exist with the keys',
      ],
    ],
    [
      ['service/blue', ...SECRET_FLAGS, '--edge', 'shared'],
      {
        edgeRef: { name: 'shared' },
        controlPlane: { type: 'Service', service: { name: 'blue' }, ...SECRET_REFS },
      },
      [
        'whether Edge shared exists with a domain',
        'whether Service tenants/blue exists; set spec.controlPlane.service.apiPort if its API port is not 6443',
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
        'whether a default Edge exists and host blue.example.com is not used yet',
        'whether TenantControlPlane tenants/blue exists in API version',
      ],
    ],
  ])(
    '--dry-run prints the Exposure and lists the checks it skipped: %j',
    async (args, spec, skippedChecks) => {
      const { exitCode, stdout, stderr } = await terminal.snicket([
        ...['expose', ...args, '-n', 'tenants', '--dry-run'],
      ]);

      expect(parse(stdout)).toEqual({
        apiVersion: 'snicket.dev/v1alpha1',
        kind: 'Exposure',
        metadata: { name: 'blue', namespace: 'tenants' },
        spec,
      });
      expect(stderr).toMatch(
        /^warning: no cluster configured: .*\nhint: .*\nnote: not checked: whether namespace tenants exists and Exposure tenants\/blue does not\n/,
      );
      for (const check of skippedChecks)
        expect(stderr).toMatch(new RegExp(`^note: not checked: ${check}`, 'm'));
      expect(exitCode).toBe(0);
    },
  );

  test.each([
    [
      ['service/blue'],
      "error: required flag --kubeconfig-secret is not set (the Secret with the tenant's admin kubeconfig)",
    ],
    [
      ['--endpoints', '10.0.0.5:6443'],
      'error: required flag --name is not set (the name of the Exposure)',
    ],
    [
      ['tenantcontrolplane/blue'],
      'error: kind tenantcontrolplane is ambiguous\nhint: pass tenantcontrolplane.kamaji.clastix.io/blue or tenantcontrolplane.steward.butlerlabs.dev/blue',
    ],
    [
      ['foo/blue'],
      'error: unknown kind of control plane: foo\nhint: use one of TenantControlPlane, Cluster, ClusterDeployment, K0smotronControlPlane, Service; if foo is a namespace, pass it as -n foo',
    ],
    [['blue'], 'no cluster configured: '],
    [[], '; without a cluster, --dry-run requires KIND/NAME or --endpoints'],
    [['service/blue', ...SECRET_FLAGS, '--kubeconfig', 'gone'], 'kubeconfig not found'],
  ])('--dry-run fails if the flags do not determine the Exposure: %j', async (args, message) => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['expose', ...args, '--dry-run']);

    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('fails without --dry-run', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket([
      'expose',
      'service/blue',
      ...SECRET_FLAGS,
    ]);

    expect(stderr).toStartWith('error: no cluster configured: ');
    expect(stderr).not.toContain('--dry-run');
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

test('--dry-run prints a complete Exposure and exits with 2 if the cluster does not respond', async () => {
  await using server = await TestApiServer.start();
  using terminal = new Terminal(server);
  await server.goDown();

  const complete = await terminal.snicket(['expose', 'service/blue', ...SECRET_FLAGS, '--dry-run']);
  const incomplete = await terminal.snicket(['expose', 'service/blue', '--dry-run']);

  expect(complete.stdout).toContain('kind: Exposure\n');
  // The namespace of the context.
  expect(complete.stdout).toContain('namespace: tenants\n');
  expect(complete.stderr).toMatch(
    /^warning: the management cluster does not respond\n(?:note: .*\n)+error: .*\nhint: check that the API server is running/,
  );
  expect(complete.exitCode).toBe(2);
  expect(incomplete.stdout).toBe('');
  expect(incomplete.stderr).toMatch(
    /^note: cannot print the Exposure without the cluster: required flag --kubeconfig-secret is not set .*\nerror: /,
  );
  expect(incomplete.exitCode).toBe(2);
  await server.comeUp();
});
