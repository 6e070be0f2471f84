import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import { newTenantControlPlane } from '../providers/testing/provider-objects.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { RESOURCES } from '../kube/resource.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { DoctorLab } from './doctor/testing/doctor-lab.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

/** No DNS server knows the hosts of the lab, and a machine without a network has no resolver: one hop fails. */
const DNS_FAILS = /DnsNoAnswer|DnsResolverFailed/;

const OTHER_HOPS = `  edge  Pass  Passed  127.0.0.1:PORT
  sni  Pass  Passed  tenants-blue.k8s.example.test:PORT
  certificate  Pass  Passed  tenants-blue.k8s.example.test
  api  Pass  Passed  https://tenants-blue.k8s.example.test:PORT/version
  konnectivity  Pass  Passed  tenants-blue.konnectivity.example.test:PORT
  endpoints  Pass  Passed  EndpointSlice default/kubernetes
  proxies  Pass  ProxiesReady  DaemonSet kube-system/snicket-proxy
  kubeconfig  Skip  NotApplicable  https://tenants-blue.k8s.example.test:PORT
`;

interface Report {
  readonly tally: Readonly<Record<string, number>>;
  readonly exposures: readonly {
    readonly exposure: string;
    readonly hops: readonly Readonly<Record<string, string>>[];
    readonly findings: readonly Readonly<Record<string, string>>[];
  }[];
  readonly unresolved: readonly { readonly object: string; readonly findings: readonly object[] }[];
}

describe('doctor, for a tenant whose host does not resolve,', () => {
  let lab: DoctorLab;
  let terminal: Terminal;
  let port: string;

  beforeAll(async () => {
    lab = await DoctorLab.start();
    terminal = new Terminal(lab.operator.management);
    port = String(lab.operator.gateway?.port);
  });

  afterAll(async () => {
    terminal[Symbol.dispose]();
    await lab[Symbol.asyncDispose]();
  });

  const image = ['--proxy-image', 'snicket.test/snicket:1'];

  test('prints a table with the failure and its fix', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['doctor', 'blue', ...image]);

    expect(stderr).toBe('');
    const [head, headings, dns, sentence, action, ...others] = stdout
      .replaceAll(port, 'PORT')
      .split('\n');
    expect(head).toBe(
      'tenants/blue  tenants-blue.k8s.example.test:PORT  Edge shared (snicket, Passthrough)',
    );
    expect(headings).toMatch(/^ {2}HOP {11}STATE {2}CODE +TARGET$/);
    expect(dns).toMatch(
      /^ {2}dns {11}Fail {3}Dns\w+ +tenants-blue\.k8s\.example\.test, tenants-blue\.konn/,
    );
    expect(sentence).toMatch(/^ {4}Host tenants-blue\.k8s\.example\.test .*\.$/);
    expect(action).toMatch(/^ {4}To do: .*tenants-blue\.k8s\.example\.test.*\.$/);
    // The codes of dns differ in length, and so do the columns.
    const columns = others.join('\n').replaceAll(/(?<=\S) {2,}/g, '  ');
    expect(columns).toBe(`${OTHER_HOPS}\n1 Exposure: 1 Fail, 0 Warn, 7 Pass, 1 Skip\n`);
    expect(exitCode).toBe(1);
  });

  test('prints JSON', async () => {
    const json = await terminal.snicket(['doctor', ...image, '-o', 'json']);
    const yaml = await terminal.snicket(['doctor', 'tenants/blue', ...image, '-o', 'yaml']);

    const report = JSON.parse(json.stdout) as Report;
    expect(parse(yaml.stdout)).toEqual(report);
    expect(report.tally).toEqual({ fail: 1, warn: 0, pass: 7, skip: 1 });
    expect(report.unresolved).toEqual([]);
    expect(report.exposures).toEqual([
      expect.objectContaining({
        exposure: 'tenants/blue',
        edge: 'shared',
        driver: 'snicket',
        mode: 'Passthrough',
        endpoint: `tenants-blue.k8s.example.test:${port}`,
        isBeingDeleted: false,
        findings: [],
      }),
    ]);
    expect(report.exposures[0]?.hops[0]).toEqual({
      hop: 'dns',
      state: 'Fail',
      code: expect.stringMatching(DNS_FAILS),
      target: 'tenants-blue.k8s.example.test, tenants-blue.konnectivity.example.test',
      message: expect.stringContaining('tenants-blue.k8s.example.test'),
      action: expect.stringContaining('tenants-blue.k8s.example.test'),
    });
    expect(report.exposures[0]?.hops[2]).toEqual({
      hop: 'sni',
      state: 'Pass',
      code: 'Passed',
      target: `tenants-blue.k8s.example.test:${port}`,
      message: `Host tenants-blue.k8s.example.test at 127.0.0.1:${port} reaches this tenant.`,
    });
    expect([json.exitCode, yaml.exitCode]).toEqual([1, 1]);
  });

  test.each([80, 120])('fits a terminal of %d columns, in colors', async (columns) => {
    const shown = await terminal.show(['doctor', 'blue', ...image], columns);

    const lines = shown.split('\r\n');
    expect(lines.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
    expect(shown).toContain('\u001B[31m✗ Fail\u001B[0m  Dns');
    expect(shown).toContain('\u001B[32m✓ Pass\u001B[0m  Passed');
    const args = Bun.stripANSI(shown).replaceAll(/\s+/g, ' ');
    expect(args).toMatch(/ To do: .* tenants-blue\.k8s\.example\.test.*\. edge ✓ Pass Passed /);
  });

  test('reads the operator in its own namespace with -n', async () => {
    await lab.operator.addTenant('late');
    await lab.operator.expose('late');

    const { stdout } = await terminal.snicket(['doctor', '-n', 'tenants', 'late', ...image]);
    await lab.operator.unexpose('late');

    expect(stdout).toContain('kubectl -n snicket-system get deployment snicket-operator');
  });

  test('checks what is possible without permission to read Secrets', async () => {
    const { management } = lab.operator;
    const refused = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    management.inject(refused, { verb: 'get', plural: 'secrets' }, 100);

    const { exitCode, stdout } = await terminal.snicket(['doctor', ...image, '-o', 'json']);
    management.clearFaults();

    const [found] = (JSON.parse(stdout) as Report).exposures;
    expect(found?.findings).toEqual([
      expect.objectContaining({ code: 'PermissionMissing', severity: 'warning' }),
    ]);
    expect(found?.findings[0]?.['message']).toContain(
      'You are not allowed to read Secret tenants/blue-ca, Secret tenants/blue-kubeconfig, so what depends on them is not checked.',
    );
    expect(found?.hops.map(({ hop, code }) => `${hop} ${code}`)).toEqual([
      ...[
        expect.stringMatching(DNS_FAILS),
        'edge Passed',
        'sni NotObserved',
        'certificate NotObserved',
      ],
      ...['api NotObserved', 'konnectivity NotObserved', 'endpoints NotObserved'],
      ...['proxies NotObserved', 'kubeconfig NotApplicable'],
    ]);
    expect(found?.hops[2]?.['message']).toMatch(/The operator reports Pass \(Passed\) since 20/);
    expect(exitCode).toBe(1);
  });

  test('names the other tenant to which the host points', async () => {
    const green = await lab.operator.addTenant('green');
    await lab.operator.expose('green');

    await lab.leadTo(green.port);
    await lab.untilFailures('OtherTenant');
    const { hops } = await lab.examine();
    await lab.operator.unexpose('green');
    await lab.restore();

    const { message, action } = hops.find(({ name }) => name === 'sni') ?? {};
    expect(message).toMatch(
      /reaches tenant tenants\/green\. The operator reports Pass \(Passed\) since 20/,
    );
    expect(action).toStartWith(
      'The operator reached this tenant in its last probe. If this stays, check',
    );
  });
});

describe('doctor, for Exposures with errors in their spec,', () => {
  let server: TestApiServer;
  let terminal: Terminal;

  beforeAll(async () => {
    const resources = [...Object.values(RESOURCES), ...Object.values(PROVIDER_RESOURCES)];
    server = await TestApiServer.start({ resources });
    terminal = new Terminal(server);
    const spec = { driver: 'haproxy', domain: 'example.test', addresses: ['127.0.0.1'] };
    server.seed(
      objectOf('Namespace', { name: 'tenants' }),
      objectOf('Edge', { name: 'shared' }, { spec }),
      asking('lost', 'nowhere'),
      asking('late', 'shared'),
      objectOf(
        'Exposure',
        { name: 'adrift', namespace: 'tenants' },
        {
          spec: {
            edgeRef: { name: 'gone' },
            hosts: { api: 'adrift.example.test' },
            controlPlane: {
              type: 'Service',
              service: { name: 'x' },
              caSecretRef: { name: 'x' },
              kubeconfigSecretRef: { name: 'x' },
            },
          },
        },
      ),
    );
  });

  afterAll(async () => {
    terminal[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  function asking(name: string, edge: string) {
    const { status: _, ...object } = newTenantControlPlane('kamaji', name);
    const metadata = { ...object.metadata, annotations: { 'snicket.dev/edge': edge } };
    const { uid: _uid, resourceVersion: _version, ...own } = metadata;
    return { ...object, metadata: own };
  }

  test('reports a missing Edge of an annotation and of an Exposure', async () => {
    const { exitCode, stdout } = await terminal.snicket(['doctor']);

    expect(stdout).toBe(`tenants/adrift  adrift.example.test  no Edge
  HOP   STATE  CODE          TARGET
  plan  Fail   EdgeNotFound  Exposure tenants/adrift
    Edge gone does not exist.
    To do: Create it, or correct spec.edgeRef (existing Edge: shared).

TenantControlPlane tenants/late  Exposure not created
  HOP   STATE  CODE           TARGET
  plan  Fail   NotReconciled  TenantControlPlane tenants/late
    TenantControlPlane tenants/late requests an Exposure by annotation, but has none.
    To do: Wait a moment. If this persists, check that Snicket's operator runs.

TenantControlPlane tenants/lost  Exposure not created
  HOP   STATE  CODE          TARGET
  plan  Fail   EdgeNotFound  TenantControlPlane tenants/lost
    Edge nowhere does not exist.
    To do: Correct the annotation snicket.dev/edge, or create the Edge.

1 Exposure: 3 Fail, 0 Warn, 0 Pass, 0 Skip
`);
    expect(exitCode).toBe(1);
  });

  test('reports a named control plane without an Exposure', async () => {
    const { stdout } = await terminal.snicket(['doctor', 'lost', '-o', 'json']);

    const report = JSON.parse(stdout) as Report;
    expect(report.exposures).toEqual([]);
    expect(report.unresolved.map(({ object }) => object)).toEqual([
      'TenantControlPlane tenants/lost',
    ]);
  });

  test('exits with 2 if a named Exposure does not exist', async () => {
    const { exitCode, stderr, stdout } = await terminal.snicket(['doctor', 'adrift', 'unknown']);

    expect(stderr).toBe(
      'error: Exposure not found: tenants/unknown\nhint: existing Exposures: tenants/adrift\n',
    );
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('finds no Exposures in a missing namespace', async () => {
    const { exitCode, stderr } = await terminal.snicket(['doctor', '-n', 'empty']);

    expect(stderr).toBe('No Exposures found in namespace empty; to include all namespaces: -A\n');
    expect(exitCode).toBe(0);
  });
});

test('does not suggest -A if -A was given', async () => {
  await using server = await TestApiServer.start();
  using terminal = new Terminal(server);

  const { exitCode, stderr } = await terminal.snicket(['doctor', '-A']);

  expect(stderr).toBe('No Exposures found.\n');
  expect(exitCode).toBe(0);
});

describe('doctor rejects the command line', () => {
  test.each([
    [['--host', 'a.test'], 'error: --host requires --from-worker\nhint: remove --host'],
    [
      ['--from-worker'],
      'error: --from-worker requires --host, --ca and --edge\nhint: pass the API host of the tenant, the file with its CA, and the address of the edge as HOST:PORT',
    ],
    [
      ['--from-worker', 'blue'],
      'error: --from-worker cannot be combined with names or -f\nhint: remove them, or --from-worker',
    ],
    [
      ['--from-worker', '-A'],
      'error: --all-namespaces cannot be combined with --from-worker\nhint: remove --all-namespaces',
    ],
    [
      ['--timeout', 'soon'],
      "error: invalid value 'soon' for --timeout: must be a duration such as 30s or 1m30s",
    ],
    [
      ['--timeout', '11m'],
      "error: invalid value '11m' for --timeout: must be a duration from 1ms to 10m",
    ],
    [
      ['-A', 'blue'],
      'error: -A cannot be combined with a name or -n\nhint: remove -A, or the others',
    ],
    [
      ['-f', 'x', '--context', 'c'],
      'error: --context cannot be combined with -f\nhint: remove --context',
    ],
    [['-f', 'nowhere'], 'error: folder not found: nowhere'],
  ])('%j', async (args, sentence) => {
    using terminal = new Terminal();

    const { exitCode, stderr, stdout } = await terminal.snicket(['doctor', ...args]);

    expect(stderr).toContain(sentence);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  test('doctor reports an unreachable management cluster', async () => {
    using terminal = new Terminal();
    terminal.write('kubeconfig', 'current-context: nowhere');

    const { exitCode, stderr } = await terminal.snicket(['doctor', '--kubeconfig', 'kubeconfig']);

    expect(stderr).toStartWith('error: ');
    expect(exitCode).toBe(2);
  });
});
