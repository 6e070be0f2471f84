/**
 * A testbed with a real management cluster: etcd, kube-apiserver and controllers of a world, Snicket's RBAC from
 * `deploy/`, and one host each for operator, gateway and tenants. The audit log has the requests to count.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../../src/kube/client/fetch-client.ts';
import { parseKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { writeKubeconfig } from '../../../src/pki/kubeconfig.ts';
import type { Progress } from '../../../world/parts/progress.ts';
import { repository } from '../../../world/repository.ts';
import { World, type NetworkHost } from '../../../world/world.ts';
import { RequestCounts, type Requests } from '../request-counts.ts';
import { raiseCpuShare } from './cpu-share.ts';
import { SYSTEM_NAMESPACE, type Role, type Running, type Testbed } from './testbed.ts';

/** Within the Service range of the management cluster. */
const TENANT_PREFIX = '10.100';
const EDGE_PORT = 443;
const HTTP_PORT = 18_080;
const TOKEN_SECONDS = 86_400;
/** The start of 8,300 tenants fills 512 MiB, because etcd keeps every version for five minutes. */
const ETCD_DISK_MIB = 4096;

/** Starts a world without workers and installs Snicket's CRDs and RBAC. `raisesCpuShare` raises its CPU share. */
export async function startWorldTestbed(
  folder: string,
  progress: Progress,
  { raisesCpuShare }: { readonly raisesCpuShare: boolean },
): Promise<Testbed> {
  const auditLog = join(folder, 'audit.log');
  const auditPolicy = join(folder, 'audit-policy.json');
  writeFileSync(auditPolicy, JSON.stringify(POLICY));
  const apiServerFlags = [
    `--audit-policy-file=${auditPolicy}`,
    ...[`--audit-log-path=${auditLog}`, '--audit-log-maxsize=10000'],
  ];
  const management = { workers: 0, apiServerFlags, etcdDiskMiB: ETCD_DISK_MIB };
  const world = await World.start({ management }, { progress });
  try {
    if (raisesCpuShare) raiseCpuShare(world.id);
    await install(world);
    const hosts = {
      tenants: await world.addHost('tenants'),
      operator: await world.addHost('operator'),
      gateway: await world.addHost('edge'),
    };
    await routeToTenants(hosts);
    const kubeconfigs = {
      operator: await kubeconfigOf(world, 'operator', folder),
      gateway: await kubeconfigOf(world, 'gateway', folder),
    };
    const { controlPlane } = world.management;
    return {
      title: `kube-apiserver ${await serverVersion(world)} with etcd, no workers`,
      client: createClient(parseKubeconfig(readFileSync(controlPlane.machineKubeconfig, 'utf8')), {
        fieldManager: 'bench',
      }),
      tenantPrefix: TENANT_PREFIX,
      edge: { address: hosts.gateway.address, port: EDGE_PORT },
      kubeconfig: (role) => kubeconfigs[role],
      operatorHttp: { address: hosts.operator.address, port: HTTP_PORT },
      pointToEdge: (names) => world.dns.setAll(names, hosts.gateway.address),
      start: async (name, argv) =>
        startOn(
          name === 'operator' || name === 'gateway' ? hosts[name] : hosts.tenants,
          name,
          argv,
        ),
      requestsOf: async (role) => auditedRequests(auditLog, userOf(role)),
      [Symbol.asyncDispose]: async () => world.stop(),
    };
  } catch (error) {
    await world.stop();
    throw error;
  }
}

async function install({ management }: World): Promise<void> {
  await management.kubectl('apply', '--server-side', '-k', join(repository, 'deploy'));
  // The processes of the bench run instead of these.
  await management.kubectl('delete', 'deployments', '--all', `--namespace=${SYSTEM_NAMESPACE}`);
  await management.kubectl(
    ...['wait', '--for=condition=Established', '--timeout=30s'],
    ...['crd/edges.snicket.dev', 'crd/exposures.snicket.dev', 'crd/tenantroutes.snicket.dev'],
  );
}

/** Routes all tenant addresses to the host of the tenants, where they are local. */
async function routeToTenants({
  tenants,
  ...others
}: Readonly<Record<'tenants' | Role, NetworkHost>>): Promise<void> {
  const range = `${TENANT_PREFIX}.0.0/16`;
  await tenants.host.exec(['ip', 'route', 'add', 'local', range, 'dev', 'lo']);
  for (const { host } of Object.values(others)) {
    await host.exec(['ip', 'route', 'add', range, 'via', tenants.address]);
  }
}

/** Writes a kubeconfig with the permissions of the role's service account, and the token inline. */
async function kubeconfigOf({ management }: World, role: Role, folder: string): Promise<string> {
  const { controlPlane } = management;
  const account = `snicket-${role}`;
  const token = await management.kubectl(
    ...[
      'create',
      'token',
      account,
      `--namespace=${SYSTEM_NAMESPACE}`,
      `--duration=${TOKEN_SECONDS}s`,
    ],
  );
  const path = join(folder, `${role}.kubeconfig`);
  const text = writeKubeconfig({
    server: controlPlane.server,
    ca: controlPlane.authority.certificate,
    credentials: { token: token.trim() },
    names: { cluster: 'management', user: account },
  });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function serverVersion({ management }: World): Promise<string> {
  const response = await management.controlPlane.request('GET', '/version');
  return ((await response.json()) as { gitVersion: string }).gitVersion;
}

async function startOn(
  { host }: NetworkHost,
  name: string,
  argv: readonly string[],
): Promise<Running> {
  const daemon = await host.start(name, argv);
  return {
    pid: daemon.identity.pid,
    get isRunning() {
      return daemon.running;
    },
    tail: (lines) => daemon.tail(lines),
    end: async () => daemon.terminate(),
  };
}

function userOf(role: Role): string {
  return `system:serviceaccount:${SYSTEM_NAMESPACE}:snicket-${role}`;
}

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // Log a watch only when it ends, and each request only once.
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata', users: [userOf('operator'), userOf('gateway')] }, { level: 'None' }],
};

/** One line of an audit log. */
interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly requestURI: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
}

function auditedRequests(path: string, user: string): Requests {
  const counts = new RequestCounts();
  if (!existsSync(path)) return {};
  // The last line may be incomplete.
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const event = JSON.parse(line) as AuditEvent;
    if (event.user.username !== user) continue;
    const { resource, subresource } = event.objectRef ?? {};
    const resourceName = resource ?? event.requestURI.split('?')[0] ?? '';
    counts.add(
      event.verb,
      subresource === undefined ? resourceName : `${resourceName}/${subresource}`,
    );
  }
  return counts.requests;
}
