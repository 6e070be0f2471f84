/** Connections from the API server to its workers, and the faults that a test can inject into a world. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import { writeCredential } from '../world/cluster/pki.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { CommandError } from '../world/machine/command.ts';
import { repository } from '../world/repository.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { waitFor } from '../world/wait.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { World } from '../world/world.ts';
import {
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
  type Condition,
  type Exposure,
} from './installed-snicket.ts';

/** An address that only the workers have. A connection to it came through a worker. */
const WORKERS_ONLY = '100.64.64.2';

/** Whether this kernel can delay and drop packets, checked in a separate network namespace. */
const hasNetem =
  Bun.spawnSync([
    'unshare',
    '--net',
    'tc',
    'qdisc',
    'add',
    'dev',
    'lo',
    'root',
    'netem',
    'delay',
    '1ms',
  ]).exitCode === 0;

let world: World;
let tenant: Cluster;
let pod: Pod;

beforeAll(async () => {
  world = await World.start({ tenants: { a: { workers: 2 } } }, { progress: terminalProgress() });
  tenant = world.tenant('a');
  pod = await tenant.runPod({
    node: 'a-2',
    command: ['sh', '-c', 'echo hello from a pod; sleep 100000'],
  });
});

afterAll(async () => world?.stop());

describe('through konnectivity', () => {
  test('kubectl logs and exec reach a pod', async () => {
    expect(await pod.logs()).toBe('hello from a pod\n');
    expect(await pod.exec('hostname')).toBe(`${pod.name}\n`);
  });

  test('the API server calls an admission webhook at an address that only workers have', async () => {
    const name = 'refuser.default.svc';
    const credential = await tenant.controlPlane.authority.issue({
      commonName: name,
      names: [name],
    });
    const script = join(repository, 'e2e', 'webhook.ts');
    // On every worker, because any of the agents may have to dial.
    for (const worker of tenant.workers) {
      await worker.exec('ip', 'address', 'add', `${WORKERS_ONLY}/32`, 'dev', 'lo', 'scope', 'host');
      writeCredential(join(worker.host.folder, 'files'), 'webhook', credential);
      const webhook = await worker.start(
        'webhook',
        process.execPath,
        script,
        `${WORKERS_ONLY}:9443`,
        '/run/snicket/files/webhook',
      );
      await waitFor('the webhook listens', () => webhook.tail().includes('listening'));
    }
    await tenant.apply(...webhookObjects(tenant.controlPlane.authority.certificate));

    // A dry run, so that a request before the webhook is active does not create the object.
    const command = ['create', 'configmap', 'forbidden', '--dry-run=server'];
    const refusal = await waitFor('the webhook refuses', async () => {
      const output = await refusalOf(tenant.kubectl(...command));
      return output?.includes('denied the request') ? output : undefined;
    });

    expect(refusal).toContain('refused by a process on the worker');
    await tenant.kubectl('delete', 'validatingwebhookconfiguration', 'refuser');
  });

  test('requests to pods fail while the server is down, and succeed when it is back', async () => {
    const server = tenant.controlPlane.host.daemon('konnectivity-server');

    await server.kill();
    const failure = await refusalOf(pod.logs());
    await server.restart();
    // Agents retry half a minute after they have lost their server.
    const logs = await waitFor(
      'logs are available again',
      () => pod.logs().catch(() => undefined),
      {
        deadlineMs: 120_000,
      },
    );

    expect(failure).toContain('konnectivity.sock');
    expect(logs).toBe('hello from a pod\n');
  });
});

describe('faults', () => {
  test('a paused API server does not answer, and continues when it is resumed', async () => {
    const apiServer = tenant.controlPlane.host.daemon('kube-apiserver');

    apiServer.pause();
    const command = `exec 3<>/dev/tcp/${tenant.plan.address}/6443; echo GET >&3; cat <&3`;
    const silence = await failureOf(
      tenant.controlPlane.host.exec(['timeout', '2', 'bash', '-c', command]),
    );
    apiServer.resume();

    expect(silence?.code).toBe(124); // exit code of `timeout`: connected, without an answer
    // Its pending requests may have timed out during the pause.
    const readyz = await waitFor('it is ready', async () =>
      tenant.kubectl('get', '--raw', '/readyz').catch(() => undefined),
    );
    expect(readyz).toBe('ok');
  });

  test('a killed kubelet stays down until it is started again', async () => {
    const kubelet = tenant.worker().daemon('kubelet');

    await kubelet.kill();
    const wasRunning = kubelet.running;
    await kubelet.restart();

    expect(wasRunning).toBe(false);
    const path = `/api/v1/nodes/${tenant.worker().name}/proxy/healthz`;
    await waitFor('the kubelet answers', async () => tenant.controlPlane.answers(path), {
      deadlineMs: 90_000,
    });
  });

  test('a cut link drops all packets until it is restored', async () => {
    const worker = tenant.worker();
    const probe = `exec 3<>/dev/tcp/${tenant.plan.address}/6443`;
    const dial = async () =>
      (await failureOf(worker.exec('timeout', '10', 'bash', '-c', probe))) ? 'lost' : 'connected';

    const before = await dial();
    await worker.link.cut();
    const during = await dial();
    await worker.link.restore();
    await waitFor('the link works again', async () => (await dial()) === 'connected', {
      deadlineMs: 60_000,
    });

    expect([before, during]).toEqual(['connected', 'lost']);
  });

  test.skipIf(!hasNetem)('an impaired link delays responses', async () => {
    const worker = tenant.worker();
    // Measures the dial alone, without the start of the shell.
    const script = [
      'began=$EPOCHREALTIME',
      `exec 3<>/dev/tcp/${tenant.plan.address}/6443`,
      'echo $(( (${EPOCHREALTIME/./} - ${began/./}) / 1000 ))',
    ].join('; ');
    const dialMs = async () => Number(await worker.exec('bash', '-c', script));

    await waitFor('a dial is fast', async () => (await dialMs()) < 500);
    await worker.link.impair({ delayMs: 500 });
    const impaired = await dialMs();
    await worker.link.clearImpairment();

    expect(impaired).toBeGreaterThanOrEqual(500);
  });

  test.skipIf(hasNetem)('reports that the kernel cannot impair a link', async () => {
    await expect(tenant.worker().link.impair({ delayMs: 500 })).rejects.toThrow(
      'check that the kernel has netem',
    );
    await tenant.worker().link.clearImpairment();
  });

  test('DNS names can be changed, broken and removed', async () => {
    const { api } = tenant.plan.hosts;
    const resolve = () => pod.exec('sh', '-c', `nslookup -type=a ${api} 2>&1 || true`);

    const direct = await resolve();
    world.dns.set(api, '203.0.113.7');
    const changed = await resolve();
    world.dns.break(api, 'servfail');
    const broken = await resolve();
    world.dns.remove(api);
    const removed = await resolve();
    world.dns.set(api, tenant.plan.address);

    expect(direct).toContain(tenant.plan.address);
    expect(changed).toContain('203.0.113.7');
    expect(broken).toContain('SERVFAIL');
    expect(removed).toContain('NXDOMAIN');
  });

  test('etcd rejects writes while its disk is full', async () => {
    const { controlPlane } = tenant;
    const write = (name: string) =>
      refusalOf(
        tenant.kubectl(
          'create',
          'configmap',
          name,
          `--from-literal=x=${'x'.repeat(100_000)}`,
          '--request-timeout=5s',
        ),
      );

    const etcd = controlPlane.host.daemon('etcd');
    const isFull = (text: string) => text.includes('no space left on device');

    await controlPlane.fillDisk();
    let refusal: string | undefined;
    let output = '';
    let attempts = 0;
    // etcd first uses free space within its files. Until that is full, a write may be refused because it is slow.
    for (let i = 0; i < 2000 && !(refusal !== undefined && isFull(output)); i++) {
      refusal = await write(`filling-${i}`);
      output = etcd.tail(100);
    }
    await controlPlane.freeDisk();
    await waitFor(
      'a write is accepted',
      async () => {
        if (!etcd.running) await etcd.restart();
        // Uses a new name each time, because a write that timed out may have succeeded.
        return (await write(`after-${++attempts}`)) === undefined;
      },
      { deadlineMs: 90_000 },
    );

    expect(refusal).toBeString();
    expect(output).toContain('no space left on device');
  });
});

describe('the condition KonnectivityReady', () => {
  beforeAll(async () => {
    await installSnicket(world, terminalProgress());
    await probeMoreOften();
    await world.management.apply(snicketEdge());
    pointToEdge(world, tenant);
    await world.management.apply(exposureOf(tenant));
    await untilReachable(world, tenant);
  });

  test('is True while agents are connected, and False while there are none', async () => {
    const connected = await untilKonnectivity('True KonnectivityReady');

    await selectAgentNodes({ 'snicket.test/none': 'true' });
    const without = await untilKonnectivity('False KonnectivityNoAgent');
    const failure = await refusalOf(pod.logs());
    await selectAgentNodes({ 'snicket.test/none': null });
    await untilKonnectivity('True KonnectivityReady');
    const logs = await waitFor('logs are available', () => pod.logs().catch(() => undefined));

    expect(connected).toContain('An agent is connected');
    expect(without).toContain('error trying to reach service');
    expect(failure).toContain('No agent available');
    expect(logs).toBe('hello from a pod\n');
  });
});

/** Shortens the interval of probes: a condition turns False after three failures. */
async function probeMoreOften(): Promise<void> {
  const operator = ['deployment/snicket-operator', '--namespace=snicket-system'];
  const path = '/spec/template/spec/containers/0/args/-';
  const patch = JSON.stringify([{ op: 'add', path, value: '--probe-interval=10s' }]);
  await world.management.kubectl('patch', ...operator, '--type=json', `--patch=${patch}`);
  await world.management.kubectl('rollout', 'status', ...operator, '--timeout=100s');
}

/** Sets or removes labels of the nodes that run agents. */
async function selectAgentNodes(nodeSelector: Readonly<Record<string, string | null>>) {
  const patch = JSON.stringify({ spec: { template: { spec: { nodeSelector } } } });
  const agents = ['daemonset/konnectivity-agent', '--namespace=kube-system'];
  await tenant.kubectl('patch', ...agents, '--type=merge', '--patch', patch);
}

/** Waits until the condition has this status and reason, and returns its message. */
async function untilKonnectivity(wanted: string): Promise<string> {
  let last: Condition | undefined;
  const matches = async () => {
    const { name } = tenant;
    const exposure = await world.management.get<Exposure>('exposures', name, tenantNamespace(name));
    last = exposure?.status?.conditions?.find(({ type }) => type === 'KonnectivityReady');
    return `${last?.status} ${last?.reason}` === wanted ? last?.message : undefined;
  };
  // Three probes at least, and the back-off of agents and of probes.
  const wait = { deadlineMs: 200_000, everyMs: 1_000 };
  return waitFor(`KonnectivityReady is ${wanted}`, matches, wait).catch((error: unknown) => {
    throw new Error(`the condition is ${JSON.stringify(last)}`, { cause: error });
  });
}

/** Returns the error of a command; undefined if it succeeded. */
async function failureOf(command: Promise<unknown>): Promise<CommandError | undefined> {
  try {
    await command;
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** Returns the output of a refused command; undefined if it succeeded. */
async function refusalOf(command: Promise<string>): Promise<string | undefined> {
  return (await failureOf(command))?.stderr;
}

function webhookObjects(authority: string): object[] {
  const metadata = { name: 'refuser', namespace: 'default' };
  const ports = [{ name: 'https', port: 9443, protocol: 'TCP' }];
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'refuser' } },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: [WORKERS_ONLY], conditions: { ready: true } }],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'refuser' },
      webhooks: [
        {
          name: 'refuser.snicket.test',
          clientConfig: {
            service: { ...metadata, port: 9443 },
            caBundle: Buffer.from(authority).toString('base64'),
          },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['configmaps'],
            },
          ],
          matchConditions: [
            { name: 'forbidden', expression: "object.metadata.name == 'forbidden'" },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 5,
        },
      ],
    },
  ];
}
