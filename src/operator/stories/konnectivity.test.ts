/** KonnectivityReady reports whether an agent of the tenant is connected. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { issueLeaf } from '../../pki/leaf.ts';
import { neverRespond } from '../../probe/testing/responses.ts';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const NODE = 'worker-1';
const NO_AGENT = { kind: 'error', status: 503, reason: 'ServiceUnavailable' } as const;

function healthz(node: string): { readonly plural: string } {
  return { plural: `/api/v1/nodes/${node}/proxy/healthz` };
}

/** A lab with a tenant whose konnectivity-server is reached through a gateway. */
class KonnectivityLab implements AsyncDisposable {
  readonly lab: OperatorLab;
  readonly tenant: LabTenant;
  readonly #stack = new AsyncDisposableStack();

  private constructor(lab: OperatorLab, tenant: LabTenant) {
    this.lab = lab;
    this.tenant = tenant;
    this.#stack.use(lab);
  }

  static async start(nodes: readonly string[] = [NODE]): Promise<KonnectivityLab> {
    const lab = await OperatorLab.start({ hasGateway: true, probeMs: 20_000 });
    const tenant = await lab.addTenant('blue');
    const started = new KonnectivityLab(lab, tenant);
    for (const [at, node] of nodes.entries()) {
      await tenant.controllers.addNode(node, [`10.0.0.${at + 1}`]);
    }
    return started;
  }

  /** Exposes the tenant. */
  async expose(): Promise<void> {
    const { authority, port } = this.tenant;
    const names = [`${TENANTS}-blue.konnectivity.example.test`];
    const leaf = await issueLeaf({ ca: authority, names, addresses: [], now: new Date() });
    const serving = { cert: leaf.certificate, key: leaf.key };
    const server = this.#stack.use(
      await ApiServer.start({ serving, protocols: ['h2'], onConnection: neverRespond }),
    );
    const ports = [
      { name: 'api', port, protocol: 'TCP' },
      { name: 'konnectivity', port: server.port, protocol: 'TCP' },
    ];
    await this.lab.change(RESOURCES.service, 'blue', { spec: { ports } });
    await this.lab.change(RESOURCES.endpointSlice, 'blue-1', { ports });
    const service = { name: 'blue', apiPort: port, konnectivityPort: server.port };
    await this.lab.expose('blue', {
      controlPlane: {
        type: 'Service',
        service,
        caSecretRef: { name: 'blue-ca' },
        kubeconfigSecretRef: { name: 'blue-kubeconfig' },
      },
    });
    await this.lab.untilCondition('blue', 'Ready', /^True/);
  }

  /** From now on the API server cannot dial kubelets. */
  removeAgents(...nodes: readonly string[]): void {
    for (const node of nodes) this.tenant.server.inject(NO_AGENT, healthz(node), Infinity);
  }

  async untilKonnectivity(pattern: RegExp): Promise<string> {
    return this.lab.untilCondition('blue', 'KonnectivityReady', pattern);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

describe.concurrent('KonnectivityReady', () => {
  test('is True while an agent is connected, and False after several checks without one', async () => {
    await using konnectivity = await KonnectivityLab.start();
    const { lab, tenant } = konnectivity;
    await konnectivity.expose();
    expect(await konnectivity.untilKonnectivity(/^True/)).toBe(
      "True KonnectivityReady: An agent is connected to the tenant's konnectivity-server.",
    );

    konnectivity.removeAgents(NODE);
    const said = await konnectivity.untilKonnectivity(/^False KonnectivityNoAgent/);

    expect(said).toContain('injected: ServiceUnavailable. Check that the konnectivity agents run');
    expect(lab.condition('blue', 'Ready')).toStartWith('True');
    await lab.until('the event', () => lab.eventsOf('blue').includes('KonnectivityNoAgent'));
    tenant.server.clearFaults();
    await konnectivity.untilKonnectivity(/^True KonnectivityReady/);
  });

  test('is False if the server answers and no agent was ever connected', async () => {
    await using konnectivity = await KonnectivityLab.start();
    konnectivity.removeAgents(NODE);

    await konnectivity.expose();

    await konnectivity.untilKonnectivity(/^False KonnectivityNoAgent/);
    await konnectivity.lab.untilCondition('blue', 'Reachable', /^True/);
  });

  test('does not depend on one node without a response', async () => {
    await using konnectivity = await KonnectivityLab.start(['worker-1', 'worker-2']);
    konnectivity.removeAgents('worker-1');
    const { lab } = konnectivity;

    await konnectivity.expose();
    await konnectivity.untilKonnectivity(/^True/);

    expect(lab.eventsOf('blue')).not.toContain('KonnectivityNoAgent');
  });

  test('is True without nodes, and checks the first node soon after it joins', async () => {
    await using konnectivity = await KonnectivityLab.start([]);
    const { lab, tenant } = konnectivity;
    await konnectivity.expose();
    await konnectivity.untilKonnectivity(/^True NoNodes/);
    // The period is the longest by then.
    await lab.environment.pass(600_000);
    const { clock } = lab.environment;

    await tenant.controllers.addNode(NODE, ['10.0.0.1']);
    const startMs = clock.nowMs();
    await konnectivity.untilKonnectivity(/^True KonnectivityReady/);

    expect(clock.nowMs() - startMs).toBeLessThan(60_000);
  });

  test('is Unknown with a hint if the kubeconfig may not check', async () => {
    await using konnectivity = await KonnectivityLab.start();
    const forbidden = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    konnectivity.tenant.server.inject(forbidden, healthz(NODE), Infinity);

    await konnectivity.expose();

    const said = await konnectivity.untilKonnectivity(/^Unknown AgentCheckForbidden/);
    expect(said).toContain(
      'Allow the user of the kubeconfig to list nodes and to get nodes/proxy.',
    );
  });

  test('is Unknown if the tenant does not respond, which delays no other tenant', async () => {
    await using konnectivity = await KonnectivityLab.start();
    const { lab, tenant } = konnectivity;
    tenant.server.inject({ kind: 'hang' }, healthz(NODE), Infinity);

    await konnectivity.expose();
    await lab.addExposed('green');

    await konnectivity.untilKonnectivity(/^Unknown AgentCheckInconclusive/);
    await lab.untilCondition('green', 'Reachable', /^True/);
  });
});

test('a steady tenant gets few and small requests', async () => {
  await using konnectivity = await KonnectivityLab.start();
  const { lab, tenant } = konnectivity;
  await konnectivity.expose();
  await konnectivity.untilKonnectivity(/^True/);
  const since = tenant.server.requests().length;

  await lab.environment.pass(3_600_000);

  const requests = tenant.server.requests().slice(since);
  const checks = requests.filter(({ plural }) => plural === healthz(NODE).plural);
  expect(checks.length).toBeGreaterThan(5);
  // Every 200 seconds at least, with periods of 20 seconds that doubled.
  expect(checks.length).toBeLessThan(40);
  expect(requests.filter(({ plural }) => plural === 'nodes')).toEqual([]);
});
