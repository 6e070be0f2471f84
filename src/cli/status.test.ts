import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import type { TestApiServer } from '../kube/testing/api-server.ts';
import type { Terminal } from './testing/snicket.ts';
import { NO_ADDRESS, StatusCluster, TO_DO } from './testing/status-cluster.ts';

setDefaultTimeout(240_000);

const LEADS = 'Operator: snicket-operator-7d_1 leads, 2 of 2 replicas are ready\n';

let cluster: StatusCluster;
let server: TestApiServer;
let terminal: Terminal;
beforeAll(async () => {
  cluster = await StatusCluster.start();
  ({ server, terminal } = cluster);
});
afterAll(async () => cluster[Symbol.asyncDispose]());

describe('status without a name', () => {
  test('shows Edges, the Exposures of the namespace, and the operator', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['status']);

    expect(stderr).toBe('');
    expect(stdout.replaceAll(/\d+[smhd]$/gm, 'AGE')).toBe(
      `EDGE    DRIVER   DOMAIN        ADDRESS                     EXPOSURES  READY  REASON
shared  snicket  example.test  203.0.113.10, 2001:db8::10  2          True   -

EXPOSURE  HOST                           EDGE    MODE         PROXIES  READY  REACHABLE  REASON       AGE
blue      tenants-blue.k8s.example.test  shared  Passthrough  12/12    True   True       -            AGE
red       tenants-red.k8s.example.test   shared  Passthrough  12/12    False  False      DnsNoAnswer  AGE

${LEADS}`,
    );
    expect(exitCode).toBe(1);
  });

  test('exits with 0 if everything shown is healthy', async () => {
    const { exitCode, stdout } = await terminal.snicket(['status', '-n', 'other']);

    expect(stdout).toContain('green');
    expect(stdout).not.toContain('blue');
    expect(exitCode).toBe(0);
  });

  test('shows namespaces with -A', async () => {
    const { stdout } = await terminal.snicket(['status', '-A']);

    const shown = [...stdout.matchAll(/^(?:tenants|other)\/\w+/gm)].map(([key]) => key);
    expect(shown).toEqual(['other/green', 'tenants/blue', 'tenants/red']);
  });

  test('drops columns on a narrow terminal', async () => {
    const wide = await terminal.show(['status', '-A'], 140);
    const narrow = await terminal.show(['status', '-A'], 80);

    expect(wide).toMatch(/^EXPOSURE +HOST +EDGE +MODE +PROXIES +READY +REACHABLE +REASON +AGE\r$/m);
    expect(wide).toContain('\u001B[31m✗ False\u001B[0m');
    expect(narrow).toMatch(/^EXPOSURE +HOST +PROXIES +READY +REASON +AGE\r$/m);
    for (const line of Bun.stripANSI(narrow).split('\r\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test('shows more columns with -o wide, whatever the width', async () => {
    const { stdout } = await terminal.snicket(['status', '-A', '-o', 'wide']);

    expect(stdout).toMatch(/^EXPOSURE .* AGE +ENDPOINT +KONNECTIVITY +HOPS +CERTIFICATE-EXPIRES$/m);
    expect(stdout).toMatch(/^tenants\/red .* - +True +0\/1 +-$/m);
  });

  test('prints names as kubectl does with -o name', async () => {
    const all = await terminal.snicket(['status', '-A', '-o', 'name']);
    const one = await terminal.snicket(['status', 'red', '-o', 'name']);

    expect(all.stdout).toStartWith('edge.snicket.dev/shared\nexposure.snicket.dev/');
    expect(one.stdout).toBe('exposure.snicket.dev/red\n');
    expect(one.exitCode).toBe(1);
  });

  test('prints JSON and YAML', async () => {
    const json = await terminal.snicket(['status', '-A', '-o', 'json']);
    const yaml = await terminal.snicket(['status', '-A', '-o', 'yaml']);

    const value = JSON.parse(json.stdout) as { exposures: readonly object[] };
    expect(parse(yaml.stdout)).toEqual(value);
    expect(value).toMatchObject({
      edges: [{ name: 'shared', ready: 'True', exposures: 2 }],
      operator: { state: 'running' },
    });
    expect(value.exposures.at(-1)).toMatchObject({
      key: 'tenants/red',
      ready: 'False',
      reason: 'DnsNoAnswer',
      hops: [{ name: 'dns', action: TO_DO }, { state: 'Skip' }],
    });
    expect(json.exitCode).toBe(1);
  });
});

describe('status of one Exposure', () => {
  test('shows conditions and hops, and each problem once with its fix', async () => {
    const { exitCode, stdout } = await terminal.snicket(['status', 'red']);

    expect(stdout).toMatch(/^Edge +shared \(driver snicket, 203\.0\.113\.10, 2001:db8::10\)$/m);
    expect(stdout).toMatch(/^Reachable +False +DnsNoAnswer +\d+d$/m);
    expect(stdout).toMatch(/^dns +Fail +DnsNoAnswer +\d+d$/m);
    expect(stdout).toEndWith(`
DnsNoAnswer (hop dns, Reachable, Ready)
  ${NO_ADDRESS}
  To do: ${TO_DO}

${LEADS}`);
    expect(exitCode).toBe(1);
  });

  test('wraps sentences', async () => {
    const text = await terminal.show(['status', 'tenants/red'], 80);

    const lines = Bun.stripANSI(text).split('\r\n');
    expect(lines).toContain(
      '  To do: Add a DNS record for tenants-red.k8s.example.test that points to',
    );
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('shows no problems of a ready Exposure', async () => {
    const { exitCode, stdout } = await terminal.snicket(['status', 'other/green']);

    expect(stdout).not.toContain('To do');
    expect(exitCode).toBe(0);
  });

  test('exits with 2 if it does not exist', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['status', 'gone']);

    expect(stdout).toBe('');
    expect(stderr).toBe(
      'error: Exposure not found: tenants/gone\nhint: list all: snicket status -A\n',
    );
    expect(exitCode).toBe(2);
  });
});

test('names what the user may not read, and shows the rest', async () => {
  const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
  for (const plural of ['edges', 'deployments', 'leases']) server.inject(refusal, { plural }, 9);

  const { exitCode, stdout } = await terminal.snicket(['status', '-n', 'other']);

  server.clearFaults();
  expect(stdout).toContain('Edges: no permission to list edges.snicket.dev\n');
  expect(stdout).toContain(
    'Operator: no permission to read it; required: get of Deployment and Lease snicket-operator in namespace snicket-system\n',
  );
  expect(stdout).toContain('green');
  expect(exitCode).toBe(0);
});

test('exits with 1 without an operator', async () => {
  const args = ['status', '-n', 'other', '--operator-namespace', 'other'];

  const { exitCode, stdout } = await terminal.snicket(args);

  expect(stdout).toEndWith(
    'Operator: not found in namespace other; install it, or pass its namespace as --operator-namespace\n',
  );
  expect(exitCode).toBe(1);
});
