/**
 * Gateway and proxy in a world, started by hand with flags and files. Pods, kubectl and curl reach their own tenant's
 * kube-apiserver through one shared address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveTenantSecret } from '../src/wire/tenant-key.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { writeCredential } from '../world/cluster/pki.ts';
import type { Pod } from '../world/cluster/pod.ts';
import type { Daemon } from '../world/machine/daemon.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  homeNamespace,
  kubernetesSlice,
  createHomeNamespace,
  namespacesFirstSeenBy,
  namespacesSeenBy,
  VIRTUAL_ADDRESS,
} from './namespaces.ts';
import { expectClientCertificate } from './shared-checks.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const HTTP_PORT = 9440;
const TENANTS = ['a', 'b'] as const;
const MODES = ['passthrough', 'terminate'] as const;
const GRACE_SECONDS = 2;
const DRAIN_SECONDS = 6;
const CURL_TIMED_OUT = 28;
/** For a hundred changes that take milliseconds each. */
const SOON = { everyMs: 10 };
/** The proxy probes its edge with a back-off of at most half a minute. */
const BACKED_OFF = { deadlineMs: 90_000 };
/** Path of the folder `files` on a worker. */
const FILES = '/run/snicket/files';

let world: World;
let edge: NetworkHost;
let laptop: NetworkHost;
let gateway: Daemon;
const masterKey = randomBytes(32);
const pods = new Map<string, Pod>();

beforeAll(async () => {
  const tenants = { a: { proxyMode: 'nftables' }, b: { proxyMode: 'iptables' } } as const;
  world = await World.start({ tenants }, { progress: terminalProgress() });
  edge = await world.addHost('gateway');
  laptop = await world.addHost('laptop');
  writeFileSync(edgeFile('master.key'), `${masterKey.toString('base64')}\n`, { mode: 0o600 });
  writeRoutes([...TENANTS]);
  gateway = await startGateway();
  await Promise.all(TENANTS.map(async (name) => prepareTenant(world.tenant(name))));
});

afterAll(async () => world?.stop());

test.each(TENANTS)(
  'kubectl is authenticated by its client certificate in tenant %s, through the gateway',
  async (name) => {
    const kubectl = await expectClientCertificate(laptop, world.tenant(name));
    const output = await laptop.host.exec([...kubectl, 'get', 'namespaces', '-o', 'name']);

    expect(output.stdout).toContain(`namespace/home-of-${name}`);
  },
);

describe.each(MODES)('mode %s', (mode) => {
  beforeAll(async () => {
    for (const name of TENANTS) await startProxy(world.tenant(name), mode);
  });

  afterAll(async () => {
    for (const name of TENANTS) await world.tenant(name).worker().daemon('proxy').terminate(30_000);
  });

  test.each(TENANTS)('pods of tenant %s reach their own API server at 10.96.0.1', async (name) => {
    const otherTenant = TENANTS.find((candidate) => candidate !== name) ?? '';

    const namespaces = await namespacesFirstSeenBy(
      podOf(name),
      'kube-proxy uses the EndpointSlice',
    );

    expect(namespaces).toContain(homeNamespace(world.tenant(name)));
    expect(namespaces).not.toContain(homeNamespace(world.tenant(otherTenant)));
  });

  test.each(TENANTS)('curl uses HTTP/2 with the API server of tenant %s', async (name) => {
    const worker = world.tenant(name).worker();

    const answer = await worker.exec(
      ...['curl', '--silent', '--show-error', '--http2', '--max-time', '30'],
      ...['--cacert', `${FILES}/ca.crt`, '--write-out', '\n%{http_version}'],
      'https://10.96.0.1/version',
    );

    expect(answer).toContain('"gitVersion"');
    expect(answer).toEndWith('\n2');
  });

  test('a client certificate arrives only if TLS is not terminated', async () => {
    const worker = world.tenant('a').worker();

    // Neither user may read Secrets, and the refusal names the user. The request has no body: the API server would
    // refuse it before it has read the body and then reset the stream, which curl may report as a truncated answer.
    const answer = await worker.exec(
      ...['curl', '--silent', '--show-error', '--max-time', '30', '--cacert', `${FILES}/ca.crt`],
      ...['--cert', `${FILES}/client.crt`, '--key', `${FILES}/client.key`],
      'https://10.96.0.1/api/v1/namespaces/kube-system/secrets',
    );

    const user = mode === 'passthrough' ? 'pod-with-certificate' : 'system:anonymous';
    expect(answer).toContain(`User \\"${user}\\" cannot list resource`);
  });

  test('a hundred changes of routes and certificates close no watch and fail no request', async () => {
    const tenant = world.tenant('a');
    const watch = await tenant
      .worker()
      .start(
        'watch',
        ...['kubectl', `--kubeconfig=${FILES}/pods.kubeconfig`, '--server=https://10.96.0.1'],
        ...['get', 'namespaces', '--watch', '--output=name'],
      );
    await waitFor('the watch is open', () => watch.tail(50).includes(homeNamespace(tenant)));

    for (let change = 0; change < 100; change++) {
      await activateRoutes(change % 2 === 0 ? ['b', 'a', 'extra'] : ['a', 'b']);
      if (mode === 'terminate') await activateServingCertificate(tenant);
      if (change % 10 === 0)
        expect(await namespacesSeenBy(podOf('a'))).toContain(homeNamespace(tenant));
    }
    const name = `after-the-changes-${mode}`;
    await tenant.kubectl('create', 'namespace', name);

    await waitFor('the watch reports it', () => watch.tail(50).includes(name));
    expect(watch.running).toBe(true);
    await watch.kill();
  });

  test('the proxy is ready only while the edge answers, rejects clients otherwise, and recovers', async () => {
    const worker = world.tenant('a').worker();
    expect(await readiness(worker)).toBe('200');

    await gateway.kill();
    const isUnready = async () => (await readiness(worker)) === '503';
    await waitFor('the proxy notices', isUnready, BACKED_OFF);
    // Without kubectl, because it retries ten times, a second apart, after a reset.
    const curl = `curl --silent --max-time 30 --cacert ${FILES}/ca.crt https://10.96.0.1/version`;
    const exitCode = Number(await worker.exec('sh', '-c', `${curl}; echo $?`));
    expect(exitCode).not.toBe(0);
    expect(exitCode).not.toBe(CURL_TIMED_OUT);
    gateway = await startGateway();

    const isReady = async () => (await readiness(worker)) === '200';
    await waitFor('the proxy is ready again', isReady, BACKED_OFF);
    expect(await namespacesSeenBy(podOf('a'))).toContain(homeNamespace(world.tenant('a')));
  });
});

test('a terminating gateway closes 500 watches one by one after its grace period', async () => {
  const { plan, authority } = world.tenant('a').controlPlane;
  const folder = join(laptop.host.folder, 'files');
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  const client = { commonName: 'watcher', organization: 'host-processes' };
  writeCredential(folder, 'watcher', await authority.issue(client));
  const script = join(repository, 'e2e', 'open-watches.ts');
  const watches = await laptop.host.start(
    'watches',
    [process.execPath, script, `https://${plan.hosts.api}`, '500', join(folder, 'watcher')],
    { env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '1000' } }, // By default, Bun opens 256 at a time
  );
  const areOpen = () => {
    if (!watches.running) throw new Error(`the watches ended:\n${watches.tail()}`);
    return /^open$/m.test(watches.tail(2000));
  };
  await waitFor('500 open watches', areOpen, { deadlineMs: 120_000 });

  const termMs = Date.now();
  await gateway.terminate(60_000);
  await watches.untilEnded();

  const endsMs = [...watches.tail(2000).matchAll(/ended (\d+)/g)].map((match) => Number(match[1]));
  const sinceTermMs = endsMs
    .map((endMs) => endMs - termMs)
    .toSorted((first, second) => first - second);
  expect(sinceTermMs).toHaveLength(500);
  expect(sinceTermMs[0]).toBeGreaterThanOrEqual(GRACE_SECONDS * 1000 - 100);
  const [firstMs = 0, lastMs = 0] = [sinceTermMs[0], sinceTermMs.at(-1)];
  expect(lastMs - firstMs).toBeGreaterThan((DRAIN_SECONDS * 1000) / 2);
  // The closures are spread over several seconds. How many fall into which second depends on the machine.
  const seconds = new Set(sinceTermMs.map((endMs) => Math.floor(endMs / 1000)));
  expect(seconds.size).toBeGreaterThanOrEqual(4);
});

function edgeFile(name: string): string {
  return join(edge.host.folder, 'files', name);
}

/** Replaces the file, as a user would. */
function writeRoutes(tenants: readonly string[]): void {
  const routes = tenants.map((name) => {
    const tenant = world.tenants.get(name);
    const host = tenant?.plan.hosts.api ?? `${name}.k8s.snicket.test`;
    const endpoints = tenant === undefined ? [] : [`${tenant.plan.address}:${API_PORT}`];
    return { tenant: name, host, kind: 'api', endpoints };
  });
  writeFileSync(edgeFile('routes.json.new'), JSON.stringify({ routes }));
  renameSync(edgeFile('routes.json.new'), edgeFile('routes.json'));
}

/** Waits for each version, because the gateway may read two quick writes as one change. */
async function activateRoutes(tenants: readonly string[]): Promise<void> {
  const loads = async () => {
    const { stdout } = await laptop.host.exec(metricsCommand(edge.address));
    return metric(stdout, 'snicket_gateway_routes_loads_total');
  };
  const before = await loads();
  writeRoutes(tenants);
  await waitFor('the gateway uses the routes', async () => (await loads()) > before, SOON);
}

async function startGateway(): Promise<Daemon> {
  const daemon = await edge.host.start('gateway', [
    ...SNICKET,
    'gateway',
    ...['--routes', edgeFile('routes.json'), '--key-file', edgeFile('master.key')],
    ...['--listen', `${edge.address}:443`, '--http', `${edge.address}:${HTTP_PORT}`],
    ...['--grace', `${GRACE_SECONDS}s`, '--drain', `${DRAIN_SECONDS}s`],
  ]);
  await waitFor('the gateway is ready', async () => {
    if (!daemon.running) throw new Error(`the gateway ended:\n${daemon.tail()}`);
    const { stdout } = await laptop.host.exec(readinessCommand(edge.address));
    return stdout === '200';
  });
  return daemon;
}

/** Prepares a worker for a proxy: the address, the CA, its key, a certificate, and the slice with that address. */
async function prepareTenant(tenant: Cluster): Promise<void> {
  const { authority, plan } = tenant.controlPlane;
  const worker = tenant.worker();
  const files = join(worker.host.folder, 'files');
  world.dns.set(plan.hosts.api, edge.address);
  await createHomeNamespace(tenant);
  await worker.exec('ip', 'address', 'add', `${VIRTUAL_ADDRESS}/32`, 'dev', 'lo', 'scope', 'host');
  const secret = Buffer.from(deriveTenantSecret(masterKey, plan.hosts.api)).toString('base64');
  writeFileSync(join(files, 'tenant.key'), `${secret}\n`, { mode: 0o600 });
  writeFileSync(join(files, 'ca.crt'), authority.certificate);
  const client = { commonName: 'pod-with-certificate', organization: 'host-processes' };
  writeCredential(files, 'client', await authority.issue(client));
  await writeServingCertificate(tenant);
  await writePodsKubeconfig(tenant);
  await tenant.apply(kubernetesSlice(VIRTUAL_ADDRESS));
  pods.set(tenant.name, await tenant.runPod());
}

/** Writes certificate and key, which do not match for a moment. The proxy has to tolerate that. */
async function writeServingCertificate(tenant: Cluster): Promise<void> {
  const { authority } = tenant.controlPlane;
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1'];
  const folder = join(tenant.worker().host.folder, 'files');
  writeCredential(folder, 'serving', await authority.issue({ commonName: 'kubernetes', names }));
}

async function activateServingCertificate(tenant: Cluster): Promise<void> {
  const reloads = async () => {
    const page = await tenant.worker().exec(...metricsCommand(VIRTUAL_ADDRESS));
    return metric(page, 'snicket_proxy_reloads_total{file="cert",result="success"}');
  };
  const before = await reloads();
  await writeServingCertificate(tenant);
  await waitFor('the proxy uses the certificate', async () => (await reloads()) > before, SOON);
}

/** Writes a kubeconfig with a token, as pods have one. It works in both modes. */
async function writePodsKubeconfig(tenant: Cluster): Promise<void> {
  const token = (await tenant.kubectl('create', 'token', 'default', '--duration=1h')).trim();
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'pods',
    contexts: [{ name: 'pods', context: { cluster: 'pods', user: 'pods' } }],
    clusters: [{ name: 'pods', cluster: { 'certificate-authority': `${FILES}/ca.crt` } }],
    users: [{ name: 'pods', user: { token } }],
  };
  const path = join(tenant.worker().host.folder, 'files', 'pods.kubeconfig');
  writeFileSync(path, JSON.stringify(kubeconfig), { mode: 0o600 });
}

async function startProxy(tenant: Cluster, mode: (typeof MODES)[number]): Promise<void> {
  const worker = tenant.worker();
  const modeFlags =
    mode === 'passthrough'
      ? ['--tenant-key-file', `${FILES}/tenant.key`]
      : ['--cert', `${FILES}/serving.crt`, '--key', `${FILES}/serving.key`];
  const daemon = await worker.start(
    'proxy',
    ...SNICKET,
    ...['proxy', '--mode', mode, '--listen', `${VIRTUAL_ADDRESS}:${API_PORT}`],
    ...['--edge', `${tenant.plan.hosts.api}:443`, '--server-name', tenant.plan.hosts.api],
    ...['--ca', `${FILES}/ca.crt`, '--http', `${VIRTUAL_ADDRESS}:${HTTP_PORT}`],
    ...['--grace', '0', '--drain', '1s', ...modeFlags],
  );
  const isReady = async () => {
    if (!daemon.running) throw new Error(`the proxy ended:\n${daemon.tail()}`);
    return (await readiness(worker)) === '200';
  };
  await waitFor('the proxy is ready', isReady, BACKED_OFF);
}

async function readiness(worker: ReturnType<Cluster['worker']>): Promise<string> {
  return worker.exec(...readinessCommand(VIRTUAL_ADDRESS));
}

/** Prints the status, `000` if the connection fails. */
function readinessCommand(address: string): string[] {
  const url = `http://${address}:${HTTP_PORT}/readyz`;
  return ['sh', '-c', `curl --silent --output /dev/null --write-out '%{http_code}' ${url} || true`];
}

function metricsCommand(address: string): string[] {
  return ['curl', '--silent', '--show-error', '--fail', `http://${address}:${HTTP_PORT}/metrics`];
}

/** Returns a value of a metrics page, by its name with labels. */
function metric(page: string, name: string): number {
  const line = page.split('\n').find((text) => text.startsWith(`${name} `));
  if (line === undefined) throw new Error(`no ${name} in:\n${page}`);
  return Number(line.slice(name.length));
}

function podOf(name: string): Pod {
  const pod = pods.get(name);
  if (pod === undefined) throw new Error(`no pod in tenant ${name}`);
  return pod;
}
