/**
 * Snicket as a replacement for steward-tcp-proxy: the objects that Steward creates for its addon, with Snicket's image,
 * on two real nodes behind a gateway.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import { RequestLoop } from './request-loop.ts';
import { SNICKET_IMAGE, snicketImage } from './snicket-image.ts';
import { homeNamespace, createHomeNamespace, namespacesFirstSeenBy } from './namespaces.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const NAME = 'steward-tcp-proxy';
const NAMESPACE = 'kube-system';
/** A proxy probes its edge with a back-off of at most half a minute, and its CPU limit of 100m makes its start slow. */
const JOINING = { deadlineMs: 90_000 };

let world: World;
let tenant: Cluster;
let edge: NetworkHost;
let pod: Pod;

beforeAll(async () => {
  const progress = terminalProgress();
  const archive = await snicketImage(progress);
  world = await World.start({ tenants: { a: { workers: 2 } } }, { progress });
  await world.importImage(archive);
  tenant = world.tenant('a');
  edge = await world.addHost('gateway');
  await startGateway();
  await createHomeNamespace(tenant);
  pod = await tenant.runPod();
});

afterAll(async () => world?.stop());

test("Steward's Deployment becomes ready with Snicket's image and within Steward's resource limits", async () => {
  await tenant.apply(...(await stewardObjects()));

  await rollout();

  expect(await addresses()).toHaveLength(2);
  expect(await addresses()).toEqual(await addressesOfPods());
});

test('pods on every node reach their own API server at 10.96.0.1', async () => {
  const others = await Promise.all(
    tenant.workers.map(async ({ name }) => tenant.runPod({ node: name })),
  );
  for (const runningPod of [pod, ...others]) {
    const namespaces = await namespacesFirstSeenBy(runningPod, 'kube-proxy uses the EndpointSlice');
    expect(namespaces).toContain(homeNamespace(tenant));
  }
});

test('a replaced pod is removed from the EndpointSlice, its successor is added, and no request fails', async () => {
  const requestLoop = await RequestLoop.run(tenant);

  const [first = ''] = (
    await tenant.kubectl(
      'get',
      'pods',
      `--namespace=${NAMESPACE}`,
      `--selector=app=${NAME}`,
      '--output=name',
    )
  ).split('\n');
  const deleted = tenant.kubectl('delete', first, `--namespace=${NAMESPACE}`, '--wait');
  await waitFor('its endpoint is removed', async () => (await addresses()).length === 1, JOINING);
  await deleted;
  await rollout();
  const matchesPods = async () => Bun.deepEquals(await addresses(), await addressesOfPods());
  await waitFor('the EndpointSlice has only the new pods', matchesPods, JOINING);
  await requestLoop.untilAnswered(1);

  expect(await requestLoop.stop()).toEqual([]);
});

test('a node without a connection to the edge is removed from the EndpointSlice until it recovers', async () => {
  const before = await addresses();
  const cutOff = tenant.worker();
  const otherPod = await tenant.runPod({ node: tenant.workers[1]?.name ?? '' });

  await cutOff.exec('ip', 'route', 'add', 'blackhole', edge.address);
  await waitFor('its endpoint is removed', async () => (await addresses()).length === 1, JOINING);
  expect(await addresses()).not.toContain(cutOff.address);
  const namespaces = await namespacesFirstSeenBy(otherPod, 'kube-proxy uses the EndpointSlice');
  await cutOff.exec('ip', 'route', 'delete', 'blackhole', edge.address);
  await waitFor(
    'its endpoint is added again',
    async () => Bun.deepEquals(await addresses(), before),
    JOINING,
  );

  expect(namespaces).toContain(homeNamespace(tenant));
});

test('a change by another writer is reverted, and the log names the writer', async () => {
  const before = await addresses();
  const patch = JSON.stringify({ endpoints: [{ addresses: ['10.96.7.7'] }] });

  await tenant.kubectl('patch', 'endpointslice', 'kubernetes', '--type=merge', `--patch=${patch}`);
  const isRestored = async () => Bun.deepEquals(await addresses(), before);
  await waitFor('the EndpointSlice is restored', isRestored, JOINING);

  const args = ['logs', `--namespace=${NAMESPACE}`, `--selector=app=${NAME}`, '--tail=100'];
  const logs = await waitFor('the log names the writer', async () => {
    const text = await tenant.kubectl(...args);
    return text.includes('OtherWriter') && text;
  });
  expect(logs).toContain('OtherWriter: kubectl-patch overwrote EndpointSlice default/kubernetes');
});

test('scaling down removes all pods from the EndpointSlice except the last', async () => {
  await scale(1);
  await waitFor('one address remains', async () => (await addresses()).length === 1, JOINING);
  const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy uses the EndpointSlice');
  expect(namespaces).toContain(homeNamespace(tenant));

  await scale(0);
  await waitFor('no pod remains', async () => (await addressesOfPods()).length === 0, JOINING);

  expect(await addresses()).toHaveLength(1);
});

test("the Leases are deleted with Steward's Service", async () => {
  const leases = async () =>
    tenant.kubectl('get', 'leases', `--namespace=${NAMESPACE}`, '--output=name');
  expect(await leases()).toContain(`lease.coordination.k8s.io/${NAME}-172.30.`);

  await tenant.kubectl('delete', 'service', NAME, `--namespace=${NAMESPACE}`);

  await waitFor('the Leases are deleted', async () => !(await leases()).includes(NAME), JOINING);
});

/** Waits for the slice too, because the TCP readiness probe succeeds a moment before the slice is updated. */
async function rollout(): Promise<void> {
  const flags = [`--namespace=${NAMESPACE}`, '--timeout=100s'];
  await tenant.kubectl('rollout', 'status', `deployment/${NAME}`, ...flags);
  await waitFor('two are in the slice', async () => (await addresses()).length === 2, JOINING);
}

async function scale(replicas: number): Promise<void> {
  await tenant.kubectl(
    'scale',
    `deployment/${NAME}`,
    `--namespace=${NAMESPACE}`,
    `--replicas=${replicas}`,
  );
}

async function addresses(): Promise<string[]> {
  const slice = await tenant.get<{ endpoints: { addresses: string[] }[] }>(
    'endpointslice',
    'kubernetes',
  );
  return (slice?.endpoints ?? []).flatMap((endpoint) => endpoint.addresses).toSorted();
}

async function addressesOfPods(): Promise<string[]> {
  const path = '--output=jsonpath={range .items[*]}{.status.podIP}{"\\n"}{end}';
  const text = await tenant.kubectl(
    'get',
    'pods',
    `--namespace=${NAMESPACE}`,
    `--selector=app=${NAME}`,
    path,
  );
  return text.split('\n').filter(Boolean).toSorted();
}

async function startGateway(): Promise<void> {
  const { api } = tenant.plan.hosts;
  const path = join(edge.host.folder, 'files', 'routes.json');
  const route = {
    tenant: 'a',
    host: api,
    kind: 'api',
    endpoints: [`${tenant.plan.address}:${API_PORT}`],
  };
  writeFileSync(path, JSON.stringify({ routes: [route] }));
  const daemon = await edge.host.start('gateway', [
    ...[...SNICKET, 'gateway', '--routes', path],
    ...['--listen', `${edge.address}:443`, '--http', `${edge.address}:9440`],
  ]);
  await waitFor('the gateway is ready', async () => {
    if (!daemon.running) throw new Error(`the gateway ended:\n${daemon.tail()}`);
    const url = `http://${edge.address}:9440/readyz`;
    const { stdout } = await edge.host.exec([
      'sh',
      '-c',
      `curl --silent --output /dev/null --write-out '%{http_code}' ${url} || true`,
    ]);
    return stdout === '200';
  });
}

/** Returns the objects that Steward 0.4 creates for a tenant behind an ingress. */
async function stewardObjects(): Promise<object[]> {
  const { authority, plan } = tenant.controlPlane;
  const { api } = plan.hosts;
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1', api];
  const serving = await authority.issue({ commonName: 'kube-apiserver', names });
  const metadata = { name: NAME, namespace: NAMESPACE };
  const role = 'steward:tcp-proxy';
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: role },
      rules: [
        {
          apiGroups: ['discovery.k8s.io'],
          resources: ['endpointslices'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'],
        },
        { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'create', 'update'],
        },
        { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        selector: { app: NAME },
        ports: [{ name: 'proxy', port: 6443, targetPort: 'proxy' }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: `${NAME}-tls` },
      stringData: { 'tls.crt': serving.certificate, 'tls.key': serving.key },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: NAME } },
        template: { metadata: { labels: { app: NAME } }, spec: podSpec(api) },
      },
    },
  ];
}

function podSpec(api: string): object {
  const probe = { tcpSocket: { port: 6443 }, successThreshold: 1, failureThreshold: 3 };
  return {
    priorityClassName: 'system-cluster-critical',
    serviceAccountName: NAME,
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    hostNetwork: true,
    dnsPolicy: 'ClusterFirstWithHostNet',
    hostAliases: [{ ip: edge.address, hostnames: [api] }],
    containers: [
      {
        name: 'tcp-proxy',
        image: SNICKET_IMAGE,
        args: [
          ...[`--upstream-addr=${api}:443`, '--listen-addr=:6443'],
          ...[
            '--tls-cert-file=/etc/tcp-proxy/tls/tls.crt',
            '--tls-key-file=/etc/tcp-proxy/tls/tls.key',
          ],
          '--upstream-insecure=true',
        ],
        env: [
          { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'KUBERNETES_SERVICE_HOST', value: api },
          { name: 'KUBERNETES_SERVICE_PORT', value: '443' },
        ],
        ports: [{ name: 'proxy', containerPort: 6443, protocol: 'TCP' }],
        livenessProbe: { ...probe, initialDelaySeconds: 5, timeoutSeconds: 5, periodSeconds: 10 },
        readinessProbe: { ...probe, initialDelaySeconds: 3, timeoutSeconds: 3, periodSeconds: 5 },
        securityContext: {
          runAsNonRoot: true,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
        },
        resources: {
          requests: { cpu: '10m', memory: '32Mi' },
          limits: { cpu: '100m', memory: '64Mi' },
        },
        volumeMounts: [{ name: 'tls-certs', mountPath: '/etc/tcp-proxy/tls', readOnly: true }],
      },
    ],
    volumes: [{ name: 'tls-certs', secret: { secretName: `${NAME}-tls` } }],
  };
}
