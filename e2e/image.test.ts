/** The image runs as pods under the restricted Pod Security Standard, and an API server accepts deploy/. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveTenantSecret } from '../src/wire/tenant-key.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { Pod } from '../world/cluster/pod.ts';
import { CommandError } from '../world/machine/command.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { makeImage, SNICKET_IMAGE, snicketImage } from './snicket-image.ts';

const DEPLOY = join(repository, 'deploy');
const NAMESPACE = 'strict';
const NODE_PORT = 30443;
const HTTP_PORT = 9440;
const VERSION = /^snicket \d+\.\d+\.\d+ \(bun /;
/** Path of the cluster's CA on a worker. */
const CA_FILE = '/run/snicket/files/ca.crt';

let world: World;
let management: Cluster;
let tenant: Cluster;
const masterKey = randomBytes(32);

beforeAll(async () => {
  const progress = terminalProgress();
  const archive = await snicketImage(progress);
  world = await World.start({ tenants: { a: {} } }, { progress });
  await world.importImage(archive);
  management = world.management;
  tenant = world.tenant('a');
  for (const cluster of [management, tenant]) await cluster.apply(strictNamespace());
});

afterAll(async () => world?.stop());

test('the image build is reproducible', async () => {
  const first = await makeImage();

  const second = await makeImage();

  expect(second).toBe(first);
});

describe('with a read-only root, as an unprivileged user, without capabilities and with the default seccomp profile', () => {
  test.each(['management', 'tenant'])(
    'snicket version runs in the %s cluster',
    async (clusterName) => {
      const pod = await startPod(clusterName === 'tenant' ? tenant : management, 'version', {
        container: { args: ['version'] },
      });

      expect(await pod.logs()).toMatch(VERSION);
    },
  );

  test('a gateway becomes ready with the epoll engine, and routes clients to their tenant', async () => {
    await management.apply(...gatewayFiles());
    const gateway = await startPod(management, 'gateway', gatewayPod());

    const answer = await waitFor('kube-proxy forwards to it', async () =>
      requestVersion(management.worker().address, NODE_PORT, tenant.plan.hosts.api).catch(
        () => undefined,
      ),
    );

    expect(answer).toContain('"gitVersion"');
    expect(await gateway.exec('snicket', 'version')).toMatch(VERSION);
    const metrics = await metricsOf(management, gateway);
    expect(metrics).toMatch(/snicket_gateway_engine_info\{thread="0",engine="epoll"/);
  });

  test.each(['passthrough', 'terminate'] as const)(
    'a proxy in mode %s becomes ready, and forwards a request through the gateway',
    async (mode) => {
      await tenant.apply(await proxyFiles());
      const proxy = await startPod(tenant, mode, proxyPod(mode));

      const answer = await requestVersion(await addressOf(tenant, proxy), API_PORT, 'kubernetes');

      expect(answer).toContain('"gitVersion"');
    },
  );
});

describe('deploy/', () => {
  test('applies completely, and is unchanged when applied again', async () => {
    const applied = await management.kubectl('apply', '-k', DEPLOY);
    const repeated = await management.kubectl('apply', '--dry-run=server', '-k', DEPLOY);
    // kubectl diff exits with 1 if there is a difference, which is an error here.
    const difference = await management.kubectl('diff', '-k', DEPLOY);

    const names = (text: string): string[] => text.match(/^\S+\/\S+/gm) ?? [];
    expect(names(applied)).toContain('deployment.apps/snicket-operator');
    expect(names(applied)).toContain('deployment.apps/snicket-gateway');
    expect(names(repeated)).toEqual(names(applied));
    expect(difference).toBe('');
  });

  test.each(['snicket-operator', 'snicket-gateway'])(
    'the restricted namespace admits the pods of %s',
    async (name) => {
      const selector = `app.kubernetes.io/name=${name}`;

      const pods = await waitFor('there are two pods', async () => {
        const names = await kubectl('get', 'pods', '--selector', selector, '--output=name');
        return names.trim().split('\n').length === 2 && names;
      });

      expect(pods).toContain(`pod/${name}-`);
    },
  );

  test.each(['snicket-operator', 'snicket-gateway'])(
    '%s becomes ready: the operator creates the keys that the gateway waits for',
    async (name) => {
      const rollout = kubectl('rollout', 'status', `deployment/${name}`, '--timeout=100s');

      expect(await rollout).toContain('successfully rolled out');
    },
  );

  test.each([
    ['snicket-gateway', 'watch tenantroutes.snicket.dev', true],
    ['snicket-gateway', 'watch exposures.snicket.dev', false],
    ['snicket-gateway', 'list endpointslices.discovery.k8s.io', true],
    ['snicket-gateway', 'get secrets', false],
    ['snicket-gateway', 'get secrets --namespace=snicket-system', false],
    ['snicket-gateway', 'patch exposures.snicket.dev --subresource=status', false],
    ['snicket-gateway', 'list services', false],
    ['snicket-operator', 'patch exposures.snicket.dev --subresource=status', true],
    ['snicket-operator', 'delete tenantroutes.snicket.dev', true],
    ['snicket-operator', 'get secrets', true],
    ['snicket-operator', 'list secrets', false],
    ['snicket-operator', 'create secrets', false],
    ['snicket-operator', 'create secrets --namespace=snicket-system', true],
    ['snicket-operator', 'patch secrets/snicket-gateway-keys --namespace=snicket-system', false],
    ['snicket-operator', 'update leases/snicket-operator --namespace=snicket-system', true],
    ['snicket-operator', 'update leases/another --namespace=snicket-system', false],
    ['snicket-operator', 'create leases', false],
    ['snicket-operator', 'create ingresses.networking.k8s.io', true],
    ['snicket-operator', 'delete namespaces', false],
    ['snicket-operator', 'create pods', false],
    ['snicket-operator', 'create clusterrolebindings', false],
  ])('%s may %s: %p', async (account, permission, expected) => {
    const words = permission.split(' ');
    const namespace = permission.includes('--namespace') ? [] : ['--all-namespaces'];
    const as = `--as=system:serviceaccount:snicket-system:${account}`;

    const answer = await management
      .kubectl('auth', 'can-i', as, ...words, ...namespace)
      .catch((error: unknown) => (error instanceof CommandError ? error.stdout : String(error)));

    expect(answer).toBe(expected ? 'yes\n' : 'no\n');
  });

  test('setting the image in kustomization.yaml changes both Deployments and the workers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'snicket-deploy-'));
    cpSync(DEPLOY, folder, { recursive: true });
    const path = join(folder, 'kustomization.yaml');
    const original = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      original.replace(/newTag: .*/, 'newName: registry.test/ours\n    newTag: "9"'),
    );

    const text = await management.kubectl('kustomize', folder);

    rmSync(folder, { recursive: true });
    expect(text.match(/: registry\.test\/ours:9$/gm)).toHaveLength(3);
    expect(text).not.toContain('snicket.dev/snicket');
  });

  test('kubectl delete removes everything', async () => {
    // The namespace would wait for the termination of the pods, which have no connections here.
    await kubectl('scale', 'deployment', '--all', '--replicas=0');
    await kubectl('delete', 'pods', '--all', '--force', '--grace-period=0');

    await management.kubectl('delete', '-k', DEPLOY, '--timeout=100s');

    const remaining = await management.kubectl(
      'get',
      '-k',
      DEPLOY,
      '--ignore-not-found',
      '-o',
      'name',
    );

    expect(remaining).toBe('');
  });
});

async function kubectl(...args: string[]): Promise<string> {
  return management.kubectl('--namespace=snicket-system', ...args);
}

/** Returns a namespace that refuses pods with privileges. */
function strictNamespace(): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
}

interface PodParts {
  readonly labels?: object;
  readonly container: object;
  readonly volumes?: readonly object[];
}

/**
 * Creates a pod and waits until it is Ready or has succeeded. It gets a read-only root, which the namespace does not
 * require.
 */
async function startPod(cluster: Cluster, name: string, parts: PodParts): Promise<Pod> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: parts.labels ?? {} },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        fsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'main',
          image: SNICKET_IMAGE,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          ...parts.container,
        },
      ],
      volumes: parts.volumes ?? [],
    },
  });
  const pod = new Pod(cluster, NAMESPACE, name);
  await pod.untilSettled();
  return pod;
}

const READINESS = { httpGet: { path: '/readyz', port: HTTP_PORT }, periodSeconds: 1 };

/** Returns routes and keys of a gateway, and a Service with a port on the worker. */
function gatewayFiles(): object[] {
  const { hosts, address } = tenant.plan;
  const endpoints = [`${address}:${API_PORT}`];
  const routes = [{ tenant: 'a', host: hosts.api, kind: 'api', endpoints }];
  const metadata = { name: 'gateway', namespace: NAMESPACE };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'routes.json': JSON.stringify({ routes }) },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { 'master.key': masterKey.toString('base64') },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        type: 'NodePort',
        selector: { app: 'gateway' },
        ports: [{ port: 443, targetPort: 8443, nodePort: NODE_PORT }],
      },
    },
  ];
}

function gatewayPod(): PodParts {
  return {
    labels: { app: 'gateway' },
    container: {
      args: [
        'gateway',
        ...['--routes', '/routes/routes.json', '--key-file', '/keys/master.key'],
        ...['--listen', ':8443', '--http', `:${HTTP_PORT}`],
      ],
      readinessProbe: READINESS,
      volumeMounts: [
        { name: 'routes', mountPath: '/routes' },
        { name: 'keys', mountPath: '/keys' },
      ],
    },
    volumes: [
      { name: 'routes', configMap: { name: 'gateway' } },
      { name: 'keys', secret: { secretName: 'gateway', defaultMode: 0o440 } },
    ],
  };
}

/** Returns the Secret of a proxy, for both modes. */
async function proxyFiles(): Promise<object> {
  const { authority, plan } = tenant.controlPlane;
  const serving = await authority.issue({ commonName: 'kubernetes', names: ['kubernetes'] });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'proxy', namespace: NAMESPACE },
    stringData: {
      'ca.crt': authority.certificate,
      'tenant.key': Buffer.from(deriveTenantSecret(masterKey, plan.hosts.api)).toString('base64'),
      'tls.crt': serving.certificate,
      'tls.key': serving.key,
    },
  };
}

function proxyPod(mode: 'passthrough' | 'terminate'): PodParts {
  const modeFlags =
    mode === 'passthrough'
      ? ['--tenant-key-file', '/proxy/tenant.key']
      : ['--cert', '/proxy/tls.crt', '--key', '/proxy/tls.key'];
  return {
    container: {
      args: [
        ...['proxy', '--mode', mode, '--listen', `:${API_PORT}`, '--http', `:${HTTP_PORT}`],
        ...['--edge', `${management.worker().address}:${NODE_PORT}`, '--ca', '/proxy/ca.crt'],
        ...['--server-name', tenant.plan.hosts.api, ...modeFlags],
      ],
      readinessProbe: READINESS,
      volumeMounts: [{ name: 'proxy', mountPath: '/proxy' }],
    },
    volumes: [{ name: 'proxy', secret: { secretName: 'proxy', defaultMode: 0o440 } }],
  };
}

/** Returns the response of the tenant's API server. curl verifies that its certificate is the tenant's. */
async function requestVersion(address: string, port: number, name: string): Promise<string> {
  return tenant
    .worker()
    .exec(
      ...['curl', '--silent', '--show-error', '--max-time', '30', '--cacert', CA_FILE],
      ...['--connect-to', `${name}:443:${address}:${port}`, `https://${name}/version`],
    );
}

async function metricsOf(cluster: Cluster, pod: Pod): Promise<string> {
  const url = `http://${await addressOf(cluster, pod)}:${HTTP_PORT}/metrics`;
  return cluster.worker().exec('curl', '--silent', '--show-error', '--fail', url);
}

async function addressOf(cluster: Cluster, pod: Pod): Promise<string> {
  const found = await cluster.get<{ status: { podIP: string } }>('pod', pod.name, pod.namespace);
  if (!found) throw new Error(`no pod ${pod.name}`);
  return found.status.podIP;
}
