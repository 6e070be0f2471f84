import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { createClient } from '../kube/fetch-client.ts';
import type { KubeClient } from '../kube/client.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestApiServer } from '../kube/testing/api-server.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { until } from '../operator/testing/until.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import { ObjectDatabase } from '../standalone/state/object-database.ts';
import { RunLab } from '../standalone/testing/run-lab.ts';
import { valueText } from './output.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(60_000);

const SINCE = '2026-03-02T08:00:00Z';

let server: TestApiServer;
let client: KubeClient;
let terminal: Terminal;
beforeAll(async () => {
  server = await TestApiServer.start({
    resources: [...Object.values(RESOURCES), PROVIDER_RESOURCES.deployment],
  });
  client = createClient(server.access);
  terminal = new Terminal(server);
  for (const name of ['tenants', 'other', 'snicket-system']) {
    server.seed(objectOf('Namespace', { name }));
  }
  const spec = { driver: 'snicket', domain: 'example.test' };
  const annotations = { 'snicket.dev/is-default': 'true' };
  server.seed(objectOf('Edge', { name: 'shared', annotations }, { spec }));
  await report('Edge', 'shared', {
    ...{ addresses: ['203.0.113.10', '2001:db8::10'], exposures: 2 },
    conditions: [condition('Ready', 'True', 'Ready', 'the edge takes routes')],
  });
  exposure('tenants/blue');
  await report('Exposure', 'tenants/blue', READY);
  exposure('tenants/red');
  await report('Exposure', 'tenants/red', BROKEN);
  exposure('other/green');
  await report('Exposure', 'other/green', READY);
  await runOperator();
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

function condition(type: string, status: string, reason: string, message: string): object {
  return { type, status, reason, message, lastTransitionTime: SINCE, observedGeneration: 1 };
}

const TYPES = ['Accepted', 'Prepared', 'Routed', 'TenantReady', 'KonnectivityReady', 'Reachable'];
const READY = {
  ...{ edge: 'shared', driver: 'snicket', mode: 'passthrough', observedGeneration: 1 },
  proxies: { ready: 12, desired: 12, summary: '12/12' },
  conditions: [...TYPES, 'Ready'].map((type) => condition(type, 'True', type, 'it is so')),
  hops: [{ name: 'dns', state: 'Pass', reason: 'DnsResolves', message: 'found', at: SINCE }],
};
const NO_ADDRESS = 'tenants-red.k8s.example.test has no address';
const TO_DO = 'add a DNS record for tenants-red.k8s.example.test that leads to 203.0.113.10';
const BROKEN = {
  ...READY,
  conditions: [
    ...TYPES.slice(0, -1).map((type) => condition(type, 'True', type, 'it is so')),
    condition('Reachable', 'False', 'DnsNoAnswer', `${NO_ADDRESS}; ${TO_DO}`),
    condition('Ready', 'False', 'DnsNoAnswer', `${NO_ADDRESS}; ${TO_DO}`),
  ],
  hops: [
    {
      ...{ name: 'dns', state: 'Fail', reason: 'DnsNoAnswer', at: SINCE },
      ...{ message: NO_ADDRESS, action: TO_DO },
    },
    { name: 'edge', state: 'Skip', reason: 'DnsFailed', message: 'not tried', at: SINCE },
  ],
};

function exposure(key: string, spec: object = {}): void {
  const [namespace = '', name = ''] = key.split('/');
  const controlPlane = {
    service: { name },
    ...{ caSecret: { name: 'ca' }, kubeconfigSecret: { name: 'kubeconfig' } },
  };
  server.seed(objectOf('Exposure', { name, namespace }, { spec: { controlPlane, ...spec } }));
}

async function report(kind: 'Edge' | 'Exposure', key: string, status: object): Promise<void> {
  const [name = '', namespace] = key.split('/').toReversed();
  const resource = kind === 'Edge' ? RESOURCES.edge : RESOURCES.exposure;
  const options = { subresource: 'status' } as const;
  await client.patch(resource, { name, namespace }, 'merge', { status }, options);
}

async function runOperator(): Promise<void> {
  const metadata = { name: 'snicket-operator', namespace: 'snicket-system' };
  const args = ['operator', '--leader-elect'];
  server.seed({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
    spec: { replicas: 2, template: { spec: { containers: [{ args }] } } },
  });
  const status = { readyReplicas: 2 };
  const options = { subresource: 'status' } as const;
  await client.patch(PROVIDER_RESOURCES.deployment, metadata, 'merge', { status }, options);
  const renewTime = new Date(Date.now() + 3_600_000).toISOString();
  const spec = { holderIdentity: 'snicket-operator-7d_1', leaseDurationSeconds: 7200, renewTime };
  server.seed(objectOf('Lease', metadata, { spec }));
}

const LEADS = 'Operator: snicket-operator-7d_1 leads, 2 of 2 replicas are ready\n';

describe('all of them', () => {
  test('Edges, the Exposures of the namespace, and the operator', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['status']);

    expect(stderr).toBe('');
    expect(stdout.replaceAll(/\d+[smhd]$/gm, 'AGE')).toBe(
      `EDGE    DRIVER   DOMAIN        ADDRESS                     EXPOSURES  READY  REASON
shared  snicket  example.test  203.0.113.10, 2001:db8::10  2          True   -

EXPOSURE  HOST                           EDGE    MODE         PROXIES  READY  REASON       AGE
blue      tenants-blue.k8s.example.test  shared  passthrough  12/12    True   -            AGE
red       tenants-red.k8s.example.test   shared  passthrough  12/12    False  DnsNoAnswer  AGE

${LEADS}`,
    );
    expect(exitCode).toBe(1);
  });

  test('is well where all that is shown is', async () => {
    const { exitCode, stdout } = await terminal.snicket(['status', '-n', 'other']);

    expect(stdout).toContain('green');
    expect(stdout).not.toContain('blue');
    expect(exitCode).toBe(0);
  });

  test('has namespaces with -A', async () => {
    const { stdout } = await terminal.snicket(['status', '-A']);

    const shown = [...stdout.matchAll(/^(?:tenants|other)\/\w+/gm)].map(([key]) => key);
    expect(shown).toEqual(['other/green', 'tenants/blue', 'tenants/red']);
  });

  test('leaves columns out where the terminal is too narrow', async () => {
    const wide = await terminal.show(['status', '-A'], 120);
    const narrow = await terminal.show(['status', '-A'], 80);

    expect(wide).toMatch(/^EXPOSURE +HOST +EDGE +MODE +PROXIES +READY +REASON +AGE\r$/m);
    expect(wide).toContain('\u001B[31mFalse\u001B[0m');
    expect(narrow).toMatch(/^EXPOSURE +HOST +PROXIES +READY +REASON +AGE\r$/m);
    for (const line of Bun.stripANSI(narrow).split('\r\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test('for programs', async () => {
    const json = await terminal.snicket(['status', '-A', '-o', 'json']);
    const yaml = await terminal.snicket(['status', '-A', '-o', 'yaml']);

    const value = JSON.parse(json.stdout) as { exposures: readonly object[] };
    expect(parse(yaml.stdout)).toEqual(value);
    expect(value).toMatchObject({
      edges: [{ name: 'shared', ready: 'True', exposures: 2 }],
      operator: { state: 'running' },
    });
    expect(value.exposures.at(-1)).toMatchObject({
      ...{ key: 'tenants/red', ready: 'False', reason: 'DnsNoAnswer' },
      hops: [{ name: 'dns', action: TO_DO }, { state: 'Skip' }],
    });
    expect(json.exitCode).toBe(1);
  });
});

describe('one of them', () => {
  test('conditions and hops, and each fault once, with what to do', async () => {
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
      '  To do: add a DNS record for tenants-red.k8s.example.test that leads to',
    );
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('nothing is wrong with one that is ready', async () => {
    const { exitCode, stdout } = await terminal.snicket(['status', 'other/green']);

    expect(stdout).not.toContain('To do');
    expect(exitCode).toBe(0);
  });

  test('that is not there', async () => {
    const { exitCode, stdout, stderr } = await terminal.snicket(['status', 'gone']);

    expect(stdout).toBe('');
    expect(stderr).toBe(
      'error: there is no Exposure tenants/gone; to see all: snicket status -A\n',
    );
    expect(exitCode).toBe(2);
  });
});

test('what may not be seen is said, and the rest is shown', async () => {
  const refusal = { kind: 'answer', status: 403, reason: 'Forbidden' } as const;
  for (const plural of ['edges', 'deployments', 'leases']) server.inject(refusal, { plural }, 9);

  const { exitCode, stdout } = await terminal.snicket(['status', '-n', 'other']);

  server.clearFaults();
  expect(stdout).toContain('Edges: you may not see them; to see them: list of edges.snicket.dev\n');
  expect(stdout).toContain(
    'Operator: you may not see it; to see it: get of Deployment and Lease snicket-operator in namespace snicket-system\n',
  );
  expect(stdout).toContain('green');
  expect(exitCode).toBe(0);
});

test('an operator that is not there is something wrong', async () => {
  const words = ['status', '-n', 'other', '--operator-namespace', 'other'];

  const { exitCode, stdout } = await terminal.snicket(words);

  expect(stdout).toEndWith(
    'Operator: there is none in namespace other; install it, or name its namespace with --operator-namespace\n',
  );
  expect(exitCode).toBe(1);
});

describe('--watch', () => {
  test('is drawn over and over on a terminal, goes on after the API server was away, and leaves nothing behind', async () => {
    exposure('other/white');
    const session = terminal.open(['status', '-n', 'other', '--watch'], 120);
    const lastFrame = () => Bun.stripANSI(session.text.split('\u001B[H').at(-1) ?? '');
    await until('white is shown', () => /white .*NotLookedAt/.test(lastFrame()));
    await server.goDown();
    await until('that is said', () => lastFrame().startsWith('Old since '));
    await server.comeUp();

    await report('Exposure', 'other/white', READY);

    await until('white is ready', () => /white .*True/.test(lastFrame()));
    expect(lastFrame()).toStartWith('EDGE');
    session.type('\u0003');
    expect(await session.ended).toBe(0);
    expect(session.text).toStartWith('\u001B[?1049h\u001B[?25l');
    expect(session.text).toEndWith('\u001B[?25h\u001B[?1049l');
    // Nothing is cleared before it is drawn.
    expect(session.text).not.toContain('\u001B[2J');
    expect(await client.delete(RESOURCES.exposure, { name: 'white', namespace: 'other' })).toBe(
      true,
    );
  });

  test('gives the terminal to the shell while it is stopped', async () => {
    const left = '\u001B[?25h\u001B[?1049l';
    const session = terminal.open(['status', '-n', 'other', '--watch'], 120);
    await until('green is shown', () => session.text.includes('green'));

    session.type('\u001A');
    await until('it leaves', () => session.text.includes(left));
    session.resume();
    await until('it is back', () => (session.text.split(left)[1] ?? '').includes('green'));

    session.type('\u0003');
    expect(await session.ended).toBe(0);
    expect(session.text).toEndWith(left);
  });

  test('prints a line for each change where there is no terminal', async () => {
    const running = terminal.start(['status', '-n', 'other', '--watch']);
    await until('green is told', () => running.text.includes('Exposure other/green: Ready=True'));
    exposure('other/black');
    await until('black is told', () =>
      running.text.includes('Exposure other/black: Ready=Unknown'),
    );

    await client.delete(RESOURCES.exposure, { name: 'black', namespace: 'other' });

    await until('black is gone', () => running.text.includes('Exposure other/black: gone'));
    running.end('SIGINT');
    expect(await running.ended).toBe(0);
    expect(running.text.match(/Exposure other\/green/g)).toHaveLength(1);
    expect(running.text).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ /);
    expect(running.text).not.toContain('\u001B');
  });

  test('is not for programs', async () => {
    const { exitCode, stderr } = await terminal.snicket(['status', '--watch', '-o', 'json']);

    expect(stderr).toContain('kubectl get exposures --watch -o json');
    expect(exitCode).toBe(2);
  });
});

describe('--state', () => {
  const metadata = { name: 'blue', namespace: 'tenants', creationTimestamp: SINCE };
  const items = [
    objectOf(
      'Edge',
      { name: 'shared' },
      {
        spec: { driver: 'snicket' },
        status: { conditions: [condition('Ready', 'True', 'Ready', '')] },
      },
    ),
    objectOf('Exposure', metadata, { spec: {}, status: READY }),
  ];
  const list = { apiVersion: 'v1', kind: 'List', items };

  /** As `snicket run` has a state. */
  function held(state: string): Disposable {
    const database = new ObjectDatabase(state);
    return { [Symbol.dispose]: () => database.close() };
  }

  test('shows what `snicket run` keeps there, with no cluster', async () => {
    using nowhere = new Terminal();
    mkdirSync(`${nowhere.folder}/state`);
    nowhere.write('state/status.yaml', valueText(list, 'yaml'));
    using _held = held(`${nowhere.folder}/state`);

    const all = await nowhere.snicket(['status', '--state', 'state']);
    const one = await nowhere.snicket(['status', '--state', 'state', 'blue']);
    const none = await nowhere.snicket(['status', '--state', 'state', 'gone']);
    const json = await nowhere.snicket(['status', '--state', 'state', '-o', 'json']);

    expect(all.stdout).toMatch(/^tenants\/blue .*12\/12 +True/m);
    expect(all.stdout).toEndWith('\nOperator: snicket run has state\n');
    expect(all.exitCode).toBe(0);
    expect(one.stdout).toMatch(/^Exposure +tenants\/blue$/m);
    expect(none.stderr).toBe(
      'error: there is no Exposure gone; there is tenants/blue; to see all: snicket status --state state\n',
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ operator: { state: 'running' }, faults: [] });
  });

  test('says that `snicket run` has ended, and writes nothing', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));
    held(nowhere.folder)[Symbol.dispose]();

    const all = await nowhere.snicket(['status', '--state', '.']);
    const json = await nowhere.snicket(['status', '--state', '.', '-o', 'json']);

    expect(all.stdout).toContain(
      '\nOperator: not running, and this is what it said last; start it: snicket run FOLDER --state .',
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ operator: { state: 'down' } });
    expect([all.exitCode, json.exitCode]).toEqual([1, 1]);
    const files = readdirSync(nowhere.folder).filter((name) => !name.startsWith('.'));
    expect(files.toSorted()).toEqual(['objects.db', 'status.yaml']);
  });

  test('says what is wrong in the folder of `snicket run`', async () => {
    await using lab = await RunLab.open();
    lab.write('a.yaml', 'kind: Nonsense');
    await lab.start();
    const status = ['status', '--state', lab.state];
    using nowhere = new Terminal();
    const running = nowhere.start([...status, '-w']);
    await until('it is told', () => /Folder: a\.yaml:1/.test(running.text));

    const wrong = await nowhere.snicket(status);
    lab.write('a.yaml', '');
    await until('it is mended', () => running.text.includes('Folder: nothing is wrong in it'));
    await lab.stop();
    await until('the end is told', () => running.text.includes('Operator: down: not running'));
    running.end('SIGINT');
    const exitCode = await running.ended;

    expect(wrong.stdout).toMatch(
      /^Wrong in the folder:\n  a\.yaml:1:1: no object; write apiVersion/m,
    );
    expect(wrong.stdout).toMatch(/^Operator: snicket run has /m);
    expect([wrong.exitCode, exitCode]).toEqual([1, 1]);
  });

  test('is what a real `snicket run` writes', async () => {
    await using lab = await RunLab.open();
    await lab.addTenant('blue');
    await lab.start();
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    using nowhere = new Terminal();

    const { stdout } = await nowhere.snicket(['status', '--state', lab.state]);

    expect(stdout).toMatch(/^shared +snicket +example\.test +127\.0\.0\.1 +1 +True +-$/m);
    expect(stdout).toMatch(
      /^tenants\/blue +tenants-blue\.k8s\.example\.test +shared +passthrough /m,
    );
  });

  test('follows it', async () => {
    using nowhere = new Terminal();
    nowhere.write('status.yaml', valueText(list, 'yaml'));
    using _held = held(nowhere.folder);
    const running = nowhere.start(['status', '--state', '.', '-w']);
    await until('blue is told', () => running.text.includes('Exposure tenants/blue: Ready=True'));

    nowhere.write('status.yaml', valueText({ ...list, items: items.slice(0, 1) }, 'yaml'));

    await until('blue is gone', () => running.text.includes('Exposure tenants/blue: gone'));
    running.end('SIGINT');
    expect(await running.ended).toBe(0);
  });

  test.each([
    ['nothing', undefined, /nowhere\/status\.yaml cannot be read \(ENOENT\); give the folder/],
    ['something else', 'a: 1', /status\.yaml is no List, so `snicket run` did not write it/],
    ['nonsense', 'a: [', /status\.yaml is no YAML/],
  ])('says that there is %s', async (_, text, sentence) => {
    using nowhere = new Terminal();
    if (text !== undefined) nowhere.write('status.yaml', text);

    const folder = text === undefined ? 'nowhere' : '.';
    const { exitCode, stderr } = await nowhere.snicket(['status', '--state', folder]);

    expect(stderr).toMatch(sentence);
    expect(exitCode).toBe(2);
  });

  test('means no cluster', async () => {
    const words = ['status', '--state', '.', '--context', 'a'];
    const { exitCode, stderr } = await terminal.snicket(words);

    expect(stderr).toContain('--context means a cluster, and --state means none');
    expect(exitCode).toBe(2);
  });
});
