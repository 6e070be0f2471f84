/**
 * Two replicas of the operator with leader election: the leader is killed, deposed and cut off, the API server
 * restarts, and all Exposures are restored from a backup without status. Both replicas are processes on hosts with
 * different addresses, so the audit logs of both API servers show which replica sent each write. The edge is a second
 * address of the tenant's API server.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Daemon } from '../world/machine/daemon.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import { AuditLog, auditText, isAccepted, type AuditEvent } from './audit-log.ts';
import {
  untilReachable,
  SYSTEM_NAMESPACE,
  type Condition,
  type Exposure,
} from './installed-snicket.ts';
import { SNICKET_IMAGE, snicketImage } from './snicket-image.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const LEASE = 'snicket-operator';
const LEASE_SECONDS = 15;
const HTTP_PORT = 8080;
const EDGE_ADDRESS = '172.30.3.1';
const NAMESPACE = tenantNamespace('a');
const REPAIRED = ['endpointslice', 'kubernetes', 'default'] as const;
/** Enough for a start of the operator and a whole Lease on a busy machine. */
const WAIT = { deadlineMs: 150_000, everyMs: 250 } as const;

/** One replica of the operator, on a host with its own address. */
interface Replica extends NetworkHost {
  readonly operator: Daemon;
}

type KnownCondition = Condition & { readonly lastTransitionTime: string };

interface KnownObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: { readonly host?: string; readonly exposureRef?: { readonly name: string } };
  readonly status?: { readonly conditions?: readonly KnownCondition[] };
}

const progress = terminalProgress();
const folder = mkdtempSync(join(tmpdir(), 'snicket-failover-'));
const audit = { management: new AuditLog(folder, 'management'), tenant: new AuditLog(folder, 'a') };
let world: World;
let tenant: Cluster;
let replicas: readonly [Replica, Replica];
/** Number of full lists of the management cluster that a process completes when it starts to lead. */
let firstLists: number;

beforeAll(async () => {
  const archive = await snicketImage(progress);
  world = await World.start(
    {
      management: { workers: 0, apiServerFlags: audit.management.flags },
      tenants: { a: { konnectivity: false, apiServerFlags: audit.tenant.flags } },
    },
    { progress },
  );
  await world.importImage(archive);
  tenant = world.tenant('a');
  const { management } = world;
  await management.kubectl('apply', '--server-side', '-f', join(repository, 'deploy', 'crds'));
  await management.untilCrdsEstablished();
  await tenant.controlPlane.host.exec([
    ...['ip', 'address', 'add', `${EDGE_ADDRESS}/16`, 'dev', 'eth0'],
  ]);
  world.dns.set(tenant.plan.hosts.api, EDGE_ADDRESS);
  await management.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    edge(),
    exposure('a', tenant.plan.hosts.api),
  );
  replicas = [await startReplica('first'), await startReplica('second')];
  await untilReachable(world, tenant);
  await management.apply(exposure('rival', tenant.plan.hosts.api));
  await untilCondition('rival', 'Accepted', 'False HostConflict');
  const leader = await untilSettled(await untilOneLeads());
  const { lists, relists } = await listsOf(leader);
  expect(relists).toEqual({});
  firstLists = lists;
});

afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the leader is killed: the other replica takes over when the Lease expires', async () => {
  const { leader, standby, baseline } = await waitForBaseline();

  await leader.operator.kill();

  await untilLeads(standby);
  await untilSettled(standby);
  const takeover = takeoverBy(standby, baseline.sinceUs);
  const renewal = writesOf(audit.management, leader).findLast(isRenewal)!;
  const waitedMs = (takeover.receivedUs - renewal.receivedUs) / 1000;
  // The standby counts from the time at which it observes the last renewal.
  expect(waitedMs).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
  await expectNoTransitions(baseline, `killed: takeover ${waitedMs} ms after the last renewal`);
  await leader.operator.restart();
});

test('a deposed leader exits, and no API server accepts its writes after the takeover', async () => {
  const { leader, standby, baseline } = await waitForBaseline();

  leader.operator.pause();
  await untilLeads(standby);
  await untilSettled(standby);
  const { receivedUs } = takeoverBy(standby, baseline.sinceUs);
  // Creates events in both clusters for the paused process, and a change that it would repair.
  await world.management.kubectl(
    ...['label', 'exposure', 'a', `--namespace=${NAMESPACE}`, 'team=blue', '--overwrite'],
  );
  await deleteFromTenant();
  leader.operator.resume();

  expect(await leader.operator.untilEnded()).toBe(1);
  await untilRepairedBy(standby, baseline.sinceUs);
  await untilSettled(standby);
  const lateWrites = [audit.management, audit.tenant]
    .flatMap((log) => writesOf(log, leader))
    .filter((write) => write.receivedUs > receivedUs);
  // The only attempt is to release the Lease, with the version that the leader last observed.
  expect(lateWrites.filter(isAccepted).map(auditText)).toEqual([]);
  expect(lateWrites.filter(({ objectRef }) => !isLease(objectRef)).map(auditText)).toEqual([]);
  await expectNoTransitions(
    baseline,
    `deposed: 0 accepted writes after the takeover, ${lateWrites.length} refused`,
  );
  await leader.operator.restart();
});

test('the API server restarts: informers list again only after 410, and the operator continues', async () => {
  const { baseline } = await waitForBaseline();
  const { management } = world;

  await management.controlPlane.host.daemon('kube-apiserver').restart();
  await waitFor(
    'the API server is ready',
    async () => management.controlPlane.answers('/readyz'),
    WAIT,
  );
  await restartEnded();
  await management.apply(exposure('late', 'late.k8s.snicket.test'));
  await untilCondition('late', 'Accepted', 'True');

  const leader = await untilSettled(await untilOneLeads());
  // The operator counts the reason when the watch is answered, and the list when it is complete.
  const { lists, relists } = await waitFor(
    'all lists are complete',
    async () => {
      const counted = await listsOf(leader);
      return counted.lists >= firstLists + sum(counted.relists) ? counted : undefined;
    },
    WAIT,
  );
  const { Expired: expired = 0, ...others } = relists;
  expect(others).toEqual({});
  expect(lists).toBe(firstLists + expired);
  await expectNoTransitions(baseline, `API server restarted: ${expired} lists after 410, 0 others`);
});

test('both replicas are cut off until the leader has lost its Lease: no condition changes', async () => {
  const { leader, standby, baseline } = await waitForBaseline();

  for (const { link } of replicas) await link.cut();
  expect(await leader.operator.untilEnded()).toBe(1);
  for (const { link } of replicas) await link.restore();

  await untilLeads(standby);
  await untilSettled(standby);
  const { relists } = await listsOf(standby);
  expect(relists).toEqual({});
  await expectNoTransitions(baseline, 'cut off');
  await leader.operator.restart();
});

test('Exposures and TenantRoutes restored without status: every host keeps its owner', async () => {
  const before = await hostOwners();
  for (const { operator } of replicas) await operator.kill();
  const backup = await exposuresAndRoutes();
  const sinceUs = nowUs();

  await remove(backup);
  // Restores the newer claim first, so that its new creation time is the earlier one.
  const isRival = ({ metadata }: KnownObject) => metadata.name === 'rival';
  await restore(backup.filter(isRival));
  const [rival] = (await exposuresAndRoutes()).filter(isRival);
  const restoredMs = Date.parse(rival?.metadata.creationTimestamp ?? '');
  await waitFor('a second has passed', () => Date.now() >= restoredMs + 1_000);
  await restore(backup.filter((object) => !isRival(object)));
  for (const { operator } of replicas) await operator.restart();

  await untilCondition('rival', 'Accepted', 'False HostConflict');
  await untilReachable(world, tenant);
  expect(await hostOwners()).toEqual(before);
  const accepted = statusWrites(sinceUs)
    .filter(({ objectRef }) => objectRef.name === 'rival')
    .flatMap(({ responseObject }) => responseObject?.status?.conditions ?? [])
    .filter(({ type, status }) => type === 'Accepted' && status === 'True');
  expect(accepted).toEqual([]);
});

function edge(): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: { driver: 'snicket', addresses: [EDGE_ADDRESS], port: API_PORT },
  };
}

function exposure(name: string, api: string): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: {
        type: 'Endpoints',
        endpoints: { api: [`${tenant.plan.address}:${API_PORT}`] },
        caSecretRef: { name: 'a-ca' },
        kubeconfigSecretRef: { name: 'a-admin-kubeconfig' },
      },
      hosts: { api },
      // There is no gateway in front of the API server, which does not support Passthrough.
      worker: { mode: 'Terminate' },
    },
  };
}

async function startReplica(name: string): Promise<Replica> {
  const networkHost = await world.addHost(name);
  const operator = await networkHost.host.start('operator', [
    ...[...SNICKET, 'operator', '--leader-elect', `--http=:${HTTP_PORT}`, '--probe-interval=5s'],
    `--kubeconfig=${world.management.controlPlane.kubeconfig}`,
    `--proxy-image=${SNICKET_IMAGE}`,
  ]);
  return { ...networkHost, operator };
}

/** State that a test compares at its end: conditions, and the time from which it counts writes. */
interface Baseline {
  readonly conditions: Readonly<{ [exposure: string]: readonly string[] }>;
  readonly sinceUs: number;
}

/** Waits until two replicas run and the leader has an empty queue. */
async function waitForBaseline(): Promise<{
  leader: Replica;
  standby: Replica;
  baseline: Baseline;
}> {
  await restartEnded();
  const leader = await untilSettled(await untilOneLeads());
  const standby = replicas.find((replica) => replica !== leader)!;
  await waitFor('the other replica is ready', async () => isOk(standby, '/readyz'), WAIT);
  // The first probe of an Exposure is a transition of its own.
  const isProbed = async () =>
    !Object.values(await conditions())
      .flat()
      .some((text) => text.includes(' NotProbed '));
  await waitFor('every accepted Exposure was probed', isProbed, WAIT);
  return { leader, standby, baseline: { conditions: await conditions(), sinceUs: nowUs() } };
}

/** Restarts replicas that have ended, as kubelet does. */
async function restartEnded(): Promise<void> {
  for (const { operator } of replicas) if (!operator.running) await operator.restart();
}

function nowUs(): number {
  return Date.now() * 1000;
}

async function leaseHolder(): Promise<string> {
  const lease = await world.management.get<{ spec: { holderIdentity?: string } }>(
    ...(['lease', LEASE, SYSTEM_NAMESPACE] as const),
  );
  return lease?.spec.holderIdentity ?? '';
}

/** Waits until a running replica leads, and returns it. */
async function untilOneLeads(): Promise<Replica> {
  return waitFor(
    'a replica leads',
    async () => {
      await restartEnded();
      const holder = await leaseHolder();
      const leader = replicas.find(({ host }) => holder.startsWith(`${host.name}_`));
      return leader !== undefined && (await metric(leader, 'snicket_operator_leader')) === 1
        ? leader
        : undefined;
    },
    WAIT,
  );
}

async function untilLeads({ host, operator }: Replica): Promise<void> {
  await waitFor(
    `${host.name} leads`,
    async () => (await leaseHolder()).startsWith(`${host.name}_`),
    WAIT,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${operator.tail()}`);
  });
}

/**
 * Waits until the leader has reconciled every Exposure, watches the tenant and has an empty queue. Returns the leader.
 */
async function untilSettled(leader: Replica): Promise<Replica> {
  const isSettled = async () => {
    const count = Object.keys(await conditions()).length;
    const text = await responseBody(leader, '/metrics');
    if (text === undefined || !(await isOk(leader, '/readyz'))) return false;
    return (
      valueOf(text, 'snicket_operator_reconciles_total{controller="exposure"}') >= count &&
      valueOf(text, 'snicket_operator_queue_depth{controller="exposure"}') === 0 &&
      valueOf(text, 'snicket_operator_longest_running_reconcile_seconds{controller="exposure"}') ===
        0 &&
      valueOf(text, 'snicket_operator_tenants') > 0
    );
  };
  await waitFor(`${leader.host.name} is settled`, isSettled, WAIT).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${leader.operator.tail()}`);
  });
  return leader;
}

/** Returns the body of a replica's HTTP response; undefined unless it answers with 200. */
async function responseBody({ host }: Replica, path: string): Promise<string | undefined> {
  const url = `http://127.0.0.1:${HTTP_PORT}${path}`;
  const curl = ['curl', '--silent', '--fail', '--max-time', '10', url];
  return host.exec(curl).then(
    ({ stdout }) => stdout,
    () => undefined, // the caller retries until its deadline
  );
}

async function isOk(replica: Replica, path: string): Promise<boolean> {
  return (await responseBody(replica, path)) !== undefined;
}

async function metric(replica: Replica, name: string): Promise<number> {
  return valueOf((await responseBody(replica, '/metrics')) ?? '', name);
}

/** Returns a value of a metrics page, by its name with labels; NaN if there is none. */
function valueOf(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 'NaN');
}

/** Returns the full lists of the management cluster that a process has completed, and the repeated lists by reason. */
async function listsOf(
  replica: Replica,
): Promise<{ lists: number; relists: Readonly<{ [reason: string]: number }> }> {
  const text = (await responseBody(replica, '/metrics')) ?? '';
  const lists = valueOf(text, 'snicket_operator_informer_lists_total{cluster="management"}');
  const found = text.matchAll(
    /^snicket_operator_informer_relists_total\{cluster="management",reason="(\w+)"\} (\d+)$/gm,
  );
  const relists = [...found].map(([, reason, count]) => [reason, Number(count)] as const);
  return { lists, relists: Object.fromEntries(relists.filter(([, count]) => count > 0)) };
}

function sum(counts: Readonly<{ [reason: string]: number }>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Returns the conditions of all Exposures, without their messages. */
async function conditions(): Promise<Baseline['conditions']> {
  const exposures = (await exposuresAndRoutes()).filter(({ kind }) => kind === 'Exposure');
  return Object.fromEntries(
    exposures.map(({ metadata, status }) => [
      metadata.name,
      (status?.conditions ?? []).map(
        ({ type, status, reason, lastTransitionTime }) =>
          `${type}=${status} ${reason} since ${lastTransitionTime}`,
      ),
    ]),
  );
}

/** Fails if a condition of an Exposure in the baseline has another status or reason, or had one in between. */
async function expectNoTransitions(baseline: Baseline, summary: string): Promise<void> {
  const writes = statusWrites(baseline.sinceUs).filter(
    ({ objectRef }) => (objectRef.name ?? '') in baseline.conditions,
  );
  const transitions = writes.flatMap((write) => {
    const { name = '' } = write.objectRef;
    const before = new Set(baseline.conditions[name]?.map((text) => text.split(' since ')[0]));
    return (write.responseObject?.status?.conditions ?? [])
      .map(({ type, status, reason }) => `${type}=${status} ${reason}`)
      .filter((text) => !before.has(text))
      .map((text) => `${name}: ${text}`);
  });
  expect(transitions).toEqual([]);
  expect(await conditions()).toMatchObject(baseline.conditions);
  progress.done('failover', `${summary}; ${writes.length} status writes, 0 transitions`);
}

/** Returns the accepted writes of the status of Exposures since a time. */
function statusWrites(sinceUs: number): readonly AuditEvent[] {
  return audit.management
    .writes()
    .filter(isAccepted)
    .filter(({ receivedUs }) => receivedUs > sinceUs)
    .filter(
      ({ objectRef }) => objectRef.resource === 'exposures' && objectRef.subresource === 'status',
    );
}

function writesOf(log: AuditLog, { address }: Replica): readonly AuditEvent[] {
  return log.writes().filter(({ sourceIPs }) => sourceIPs.includes(address));
}

function isLease({ resource, namespace, name }: AuditEvent['objectRef']): boolean {
  return resource === 'leases' && namespace === SYSTEM_NAMESPACE && name === LEASE;
}

function isRenewal(event: AuditEvent): boolean {
  return isLease(event.objectRef) && isAccepted(event);
}

/** Returns the write by which a replica acquired the Lease. */
function takeoverBy(replica: Replica, sinceUs: number): AuditEvent {
  const found = writesOf(audit.management, replica).find(
    (event) => isRenewal(event) && event.receivedUs > sinceUs,
  );
  if (found === undefined) throw new Error(`${replica.host.name} has not written the Lease`);
  return found;
}

async function deleteFromTenant(): Promise<void> {
  const [resource, name, namespace] = REPAIRED;
  await tenant.kubectl('delete', resource, name, `--namespace=${namespace}`);
}

async function untilRepairedBy(replica: Replica, sinceUs: number): Promise<void> {
  const isRepair = ({ objectRef, receivedUs }: AuditEvent) =>
    objectRef.resource === 'endpointslices' && receivedUs > sinceUs;
  await waitFor(
    `${replica.host.name} has repaired the tenant`,
    async () =>
      writesOf(audit.tenant, replica).filter(isAccepted).some(isRepair) &&
      (await tenant.get(...REPAIRED)) !== undefined,
    WAIT,
  );
}

/** Waits until the status and reason of a condition begin with this text. */
async function untilCondition(name: string, type: string, start: string): Promise<void> {
  let last: string | undefined;
  const holds = async () => {
    const found = await world.management.get<Exposure>('exposure', name, NAMESPACE);
    const { conditions = [] } = found?.status ?? {};
    last = JSON.stringify(conditions, undefined, 1);
    const condition = conditions.find((candidate) => candidate.type === type);
    return `${condition?.status} ${condition?.reason}`.startsWith(start);
  };
  await waitFor(`${type} of ${name} is ${start}`, holds, WAIT).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${last}`);
  });
}

async function exposuresAndRoutes(): Promise<readonly KnownObject[]> {
  const text = await world.management.kubectl(
    ...['get', 'exposures,tenantroutes', '--all-namespaces', '--output=json'],
  );
  return (JSON.parse(text) as { items: KnownObject[] }).items;
}

/** Returns `a.k8s.snicket.test a` for each TenantRoute: its host and Exposure. */
async function hostOwners(): Promise<readonly string[]> {
  const routes = (await exposuresAndRoutes()).filter(({ kind }) => kind === 'TenantRoute');
  expect(routes.every(({ metadata }) => metadata.ownerReferences?.length === 1)).toBe(true);
  return routes.map(({ spec }) => `${spec.host} ${spec.exposureRef?.name}`).toSorted();
}

/** Deletes objects without cleanup, as when a cluster is lost. */
async function remove(objects: readonly KnownObject[]): Promise<void> {
  for (const { kind, metadata } of objects) {
    const object = [kind.toLowerCase(), metadata.name, `--namespace=${metadata.namespace}`];
    const patch = ['--type=merge', '--patch={"metadata":{"finalizers":null}}'];
    if (metadata.finalizers !== undefined)
      await world.management.kubectl('patch', ...object, ...patch);
    await world.management.kubectl('delete', ...object, '--ignore-not-found');
  }
  await waitFor('all are gone', async () => (await exposuresAndRoutes()).length === 0, WAIT);
}

/** Creates objects of a backup without status and owner references, as Velero does. */
async function restore(objects: readonly KnownObject[]): Promise<void> {
  for (const { apiVersion, kind, metadata, spec } of objects) {
    const { name, namespace, labels, annotations, finalizers } = metadata;
    const restored = { name, namespace, labels, annotations, finalizers };
    await world.management.apply(JSON.stringify({ apiVersion, kind, metadata: restored, spec }));
  }
}
