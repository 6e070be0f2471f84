/**
 * Runs the bench on a testbed: simulated tenants, a gateway in front of them, and an operator that is started and
 * stopped.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repository } from '../../world/repository.ts';
import { waitFor } from '../../world/wait.ts';
import { RESOURCES } from '../../src/kube/resource.ts';
import { Exposures } from './measure/exposures.ts';
import { processUse, type ProcessUse } from './measure/process-use.ts';
import { writeObjects } from './measure/write-objects.ts';
import { exposureOf, sharedObjects, tenantObjects } from './objects.ts';
import { planTenants, type TenantPlan } from './plan.ts';
import { requestsBetween, sumOf, type Requests } from './request-counts.ts';
import { SYSTEM_NAMESPACE, type Running, type Testbed } from './testbed/testbed.ts';
import { call } from './tenants/control.ts';
import type { TenantAccess } from './tenants/tenant.ts';

/** The compiled program from `make build`; SNICKET=path selects another build. */
const program = resolve(process.env['SNICKET'] ?? join(repository, 'dist', 'snicket'));

/** A tenant has a listener and up to five connections, and many systems limit a process to 20,000 open files. */
const TENANTS_PER_PROCESS = 2_500;
const START_MS = 60_000;
/** A tenant needs a CA and two certificates. */
const START_MS_PER_TENANT = 100;

/** The requests that a component has sent so far. */
export interface RequestTotals {
  readonly management: Requests;
  readonly tenants: Requests;
}

/** The longest block of an event loop, and the longest one counting only the CPU time of its thread. */
export interface Block {
  readonly seconds: number;
  readonly busySeconds: number;
}

/** Returns the requests between two counts. */
export function totalsBetween(before: RequestTotals, after: RequestTotals): RequestTotals {
  return {
    management: requestsBetween(before.management, after.management),
    tenants: requestsBetween(before.tenants, after.tenants),
  };
}

/** A prepared lab. The operator does not run yet. */
export class Lab implements Disposable {
  readonly testbed: Testbed;
  readonly exposures: Exposures;
  /** The tenants that are exposed from the beginning. */
  readonly tenants: readonly TenantPlan[];
  readonly #spare: TenantPlan[];
  /** Control socket of the process of each tenant, by the name of the tenant. */
  readonly #sockets: ReadonlyMap<string, string>;
  #operator: Running | undefined;

  private constructor(
    testbed: Testbed,
    exposures: Exposures,
    tenants: readonly TenantPlan[],
    spare: readonly TenantPlan[],
    sockets: ReadonlyMap<string, string>,
  ) {
    this.testbed = testbed;
    this.exposures = exposures;
    this.tenants = tenants;
    this.#spare = [...spare];
    this.#sockets = sockets;
  }

  /** Starts tenants and the gateway, and writes the objects of the providers, but no Exposures. */
  static async open(
    testbed: Testbed,
    folder: string,
    count: { readonly tenants: number; readonly spare: number },
  ): Promise<Lab> {
    const plans = planTenants(count.tenants + count.spare, testbed.tenantPrefix);
    const groups = await Promise.all(
      groupsOf(plans).map(async (group, index) => startTenants(testbed, folder, group, index + 1)),
    );
    const accesses = Object.assign({}, ...groups.map(({ access }) => access)) as Accesses;
    const sockets = new Map(
      groups.flatMap(({ access, socket }) => Object.keys(access).map((name) => [name, socket])),
    );
    testbed.pointToEdge(plans.map(({ apiHost }) => apiHost));
    const { client, edge } = testbed;
    for (const object of sharedObjects(edge)) await writeObjects(client, [object]);
    await writeObjects(
      client,
      plans.flatMap((plan) => {
        const access = accesses[plan.name];
        if (access === undefined) throw new Error(`no access to ${plan.name}`);
        return tenantObjects(plan, access);
      }),
    );
    await startGateway(testbed, folder);
    const exposures = await Exposures.watch(client);
    const [tenants, spare] = [plans.slice(0, count.tenants), plans.slice(count.tenants)];
    return new Lab(testbed, exposures, tenants, spare, sockets);
  }

  /** Returns a tenant that is not exposed yet. */
  takeSpare(): TenantPlan {
    const plan = this.#spare.shift();
    if (plan === undefined) throw new Error('no tenant is left');
    return plan;
  }

  async expose(tenants: readonly TenantPlan[], edge?: string): Promise<void> {
    await writeObjects(
      this.testbed.client,
      tenants.map((plan) => exposureOf(plan, edge)),
    );
  }

  /** Starts the operator with the flags of its Deployment. */
  async startOperator(): Promise<void> {
    const { address, port } = this.testbed.operatorHttp;
    const httpAddress = `${address}:${port}`;
    const argv = [
      ...[program, 'operator', '--kubeconfig', this.testbed.kubeconfig('operator')],
      ...['--namespace', SYSTEM_NAMESPACE, '--leader-elect', '--http', httpAddress],
    ];
    this.#operator = await this.testbed.start('operator', argv);
  }

  async endOperator(): Promise<void> {
    await this.#operator?.end();
    this.#operator = undefined;
  }

  /** Returns the resource use of the operator. @throws with the end of its log if it has ended */
  operatorUse(): ProcessUse {
    const operator = this.#operator;
    if (operator === undefined) throw new Error('the operator was not started');
    if (!operator.isRunning) throw new Error(`the operator has ended:\n${operator.tail()}`);
    return processUse(operator.pid);
  }

  /** Returns the requests of the operator so far. Requests to tenants come only from the operator. */
  async requestTotals(): Promise<RequestTotals> {
    return {
      management: await this.testbed.requestsOf('operator'),
      tenants: sumOf(
        await Promise.all(
          [...new Set(this.#sockets.values())].map(async (socket) =>
            call(socket, 'counts', undefined),
          ),
        ),
      ),
    };
  }

  /** Returns the longest block of the operator's event loop within the last one to two minutes. */
  async longestBlock(): Promise<Block> {
    const { address, port } = this.testbed.operatorHttp;
    const text = await call(this.#socketOf(), 'page', { url: `http://${address}:${port}/metrics` });
    const valueOf = (name: string) =>
      Number(new RegExp(`^snicket_operator_event_loop_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return {
      seconds: valueOf('longest_block_seconds'),
      busySeconds: valueOf('longest_busy_seconds'),
    };
  }

  /** Returns how often the operator's Lease has changed its holder. */
  async leaseTransitions(): Promise<number> {
    const { items } = await this.testbed.client.list(RESOURCES.lease, {
      namespace: SYSTEM_NAMESPACE,
    });
    const specs = items.map((lease) => (lease as { spec?: { leaseTransitions?: number } }).spec);
    return specs.reduce((sum, spec) => sum + (spec?.leaseTransitions ?? 0), 0);
  }

  /** Deletes an object of a tenant. Returns the milliseconds until the operator has restored it. */
  async repair(tenant: string, object: 'slice' | 'daemonSet'): Promise<number> {
    return call(this.#socketOf(tenant), 'repair', { tenant, object });
  }

  /** Returns when the gateway began to route to this tenant, in milliseconds since 1970. */
  async untilServed(tenant: string): Promise<number> {
    return call(this.#socketOf(tenant), 'served', { tenant, edge: this.testbed.edge });
  }

  #socketOf(tenant = this.tenants[0]?.name ?? ''): string {
    const socket = this.#sockets.get(tenant);
    if (socket === undefined) throw new Error(`no tenant ${tenant}`);
    return socket;
  }

  [Symbol.dispose](): void {
    this.exposures[Symbol.dispose]();
  }
}

/** Access to tenants, by name. */
type Accesses = Readonly<Record<string, TenantAccess>>;

/** Groups the tenants by process. */
function groupsOf(plans: readonly TenantPlan[]): readonly (readonly TenantPlan[])[] {
  const count = Math.ceil(plans.length / TENANTS_PER_PROCESS);
  return Array.from({ length: count }, (_, index) =>
    plans.slice(index * TENANTS_PER_PROCESS, (index + 1) * TENANTS_PER_PROCESS),
  );
}

async function startTenants(
  testbed: Testbed,
  folder: string,
  plans: readonly TenantPlan[],
  number: number,
): Promise<{ readonly access: Accesses; readonly socket: string }> {
  const plan = join(folder, `tenants-${number}.json`);
  const access = join(folder, `access-${number}.json`);
  const socket = join(folder, `tenants-${number}.sock`);
  writeFileSync(plan, JSON.stringify(plans));
  const main = join(import.meta.dir, 'tenants', 'main.ts');
  const tenants = await testbed.start(`tenants-${number}`, [
    process.execPath,
    main,
    plan,
    access,
    socket,
  ]);
  await waitFor(
    `${plans.length} tenants are up`,
    () => {
      if (!tenants.isRunning) throw new Error(`the tenants ended:\n${tenants.tail()}`);
      return existsSync(access) && existsSync(socket);
    },
    { deadlineMs: START_MS + plans.length * START_MS_PER_TENANT, everyMs: 100 },
  );
  return { access: JSON.parse(readFileSync(access, 'utf8')) as Accesses, socket };
}

/** Starts the gateway with a fixed key file. In a deployment, the operator creates the key file. */
async function startGateway(testbed: Testbed, folder: string): Promise<void> {
  const keys = join(folder, 'master.key');
  writeFileSync(keys, `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 });
  const { address, port } = testbed.edge;
  await testbed.start('gateway', [
    ...[program, 'gateway', '--kubernetes', '--kubeconfig', testbed.kubeconfig('gateway')],
    ...['--listen', `${address}:${port}`, '--http', '127.0.0.1:18081', '--workers', '1'],
    ...['--key-file', keys],
  ]);
}
