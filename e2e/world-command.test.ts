/** Tests the command `world/world`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { repository } from '../world/repository.ts';
import { CommandError, run } from '../world/machine/command.ts';
import { Ledger, worldIds } from '../world/machine/ledger.ts';
import { waitFor } from '../world/wait.ts';
import type { WorldStatus } from '../world/status.ts';
import { imageArchive } from '../world/images/images.ts';
import { partFolderName } from '../world/parts/cache.ts';
import { baseParts } from '../world/parts/catalog.ts';

const CTR = [
  `/run/snicket/parts/${partFolderName(baseParts.containerd)}/ctr`,
  ...['--namespace', 'k8s.io'],
];

let id: string;

beforeAll(async () => {
  const welcome = await world('up', '--tenants=blue', '--proxy-mode=iptables', '--keep');
  id = /^World (\w+) is up after/m.exec(welcome)![1]!;
  expect(worldIds()).toContain(id);
});

afterAll(async () => {
  await world('down', id);
});

test('a kept world survives the command, and status shows it', async () => {
  const status = await statusOf(id);

  expect(status?.state).toBe('kept');
  expect(status?.hosts.find(({ name }) => name === 'blue-1')).toMatchObject({
    address: '172.30.101.1',
    running: ['containerd', 'kubelet', 'kube-proxy'],
    ended: [],
  });
  expect(Object.keys(status?.kubeconfigs ?? {})).toEqual(['management', 'blue']);
});

test('kubectl sends requests to the named cluster', async () => {
  const nodes = await world('kubectl', `--world=${id}`, 'blue', 'get', 'nodes', '-o', 'name');

  expect(nodes).toBe('node/blue-1\n');
});

test('exec runs a command on the named host, and returns its exit code', async () => {
  const hostname = await world('exec', `--world=${id}`, 'blue-1', 'hostname');
  const failing = world('exec', `--world=${id}`, 'blue-1', 'sh', '-c', 'exit 7');

  expect(hostname).toBe('blue-1\n');
  expect(await failing.catch((error: unknown) => (error as CommandError).code)).toBe(7);
});

test('logs lists the programs of a host, and prints the log of one', async () => {
  const names = await world('logs', `--world=${id}`, 'blue');
  const log = await world('logs', `--world=${id}`, 'blue', 'kube-apiserver');

  expect(names.split('\n')).toContain('kube-apiserver');
  expect(log).toContain('Serving securely');
});

test('image load loads an archive on every worker', async () => {
  const archive = imageArchive({
    name: 'snicket.test/by-hand:1',
    files: { '/bin/true': '/bin/true' },
    entrypoint: ['/bin/true'],
  });

  const output = await world('image', 'load', `--world=${id}`, archive);

  expect(output).toBe(`loaded ${archive} on blue-1, management-1\n`);
  for (const host of ['blue-1', 'management-1']) {
    const images = await world('exec', `--world=${id}`, host, ...CTR, 'images', 'list', '--quiet');
    expect(images.split('\n')).toContain('snicket.test/by-hand:1');
  }
});

test('dns set points a name to another address', async () => {
  const name = 'tenant-blue-blue.k8s.snicket.test';

  await world('dns', 'set', `--world=${id}`, name, '172.30.100.1');

  expect(await world('exec', `--world=${id}`, 'blue-1', 'getent', 'hosts', name)).toStartWith(
    '172.30.100.1 ',
  );
});

test.each([
  [['image', 'load', 'absent.tar'], 'file not found: absent.tar'],
  [['dns', 'set', 'a.snicket.test', 'nowhere'], "'nowhere' is not an address"],
  [
    ['kubectl', 'red', 'get', 'pods'],
    "no cluster 'red' (it is the first argument); clusters: management, blue",
  ],
  [['exec', 'red-1', 'true'], "no host 'red-1'; hosts:"],
  [['logs', 'red-1'], "no host 'red-1'; hosts:"],
  [['up', '--tenants=a,a'], "duplicate name 'a'"],
  [['logs', 'blue', 'nginx'], "no log of 'nginx' on blue; logs:"],
  [['up', '--proxy-mode=ipvs'], 'nftables or iptables'],
  [['up', '--tenants=Blue'], "tenant name 'Blue'"],
  [['down', 'none'], "no world 'none'; worlds:"],
])('%p is rejected with a hint', async (args, message) => {
  const commandWords = ['image', 'dns'].includes(args[0] ?? '') ? 2 : 1;
  const worldFlag = ['up', 'down'].includes(args[0] ?? '') ? [] : [`--world=${id}`];

  const failure = (await world(
    ...args.slice(0, commandWords),
    ...worldFlag,
    ...args.slice(commandWords),
  ).catch((error: unknown) => error)) as CommandError;

  expect(failure).toBeInstanceOf(CommandError);
  expect(failure.stderr).toContain(message);
});

test.each([
  ['while it starts', 'made-1/containerd'],
  ['when it is up', 'Press Ctrl-C to remove it.'],
])('Ctrl-C removes a world that is not kept: %s', async (_, moment) => {
  const command = Bun.spawn([join(repository, 'world', 'world'), 'up', '--tenants=made'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let output = '';
  const reading = (async () => {
    for await (const chunk of command.stdout) output += new TextDecoder().decode(chunk);
  })();
  const startedId = await waitFor('a world exists', () => worldOf(command.pid));
  const names = () =>
    Ledger.find(startedId)
      ?.entries()
      .flatMap((entry) => (entry.kind === 'process' ? [entry.name] : []));
  const hasHappened = async () => {
    if (output.includes(moment) || names()?.includes(moment)) return true;
    if (command.exitCode === null) return false;
    throw new Error(`the command has ended: ${await new Response(command.stderr).text()}`);
  };
  await waitFor(moment, hasHappened, { deadlineMs: 100_000 });

  command.kill('SIGINT');
  await Promise.all([command.exited, reading]);

  expect(worldIds()).not.toContain(startedId);
});

/** Returns the ID of the world that a process owns. Other worlds may come and go at the same time. */
function worldOf(pid: number): string | undefined {
  return worldIds().find((candidate) =>
    Ledger.find(candidate)
      ?.entries()
      .some((entry) => entry.kind === 'owner' && entry.process.pid === pid),
  );
}

async function world(...args: string[]): Promise<string> {
  const { stdout } = await run([join(repository, 'world', 'world'), ...args], {
    timeoutMs: 300_000,
  });
  return stdout;
}

async function statusOf(id: string): Promise<WorldStatus | undefined> {
  const statuses = JSON.parse(await world('status', '--output=json')) as WorldStatus[];
  return statuses.find((status) => status.id === id);
}
