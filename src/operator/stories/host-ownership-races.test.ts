import { expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

/** Requests of a client that wait, before they are sent, until the gate opens. */
class Gate {
  readonly client: KubeClient;
  readonly #opened = Promise.withResolvers<void>();
  #isClosed = false;
  #isReached = false;

  /** For calls of a method whose arguments contain a text as JSON. */
  constructor(client: KubeClient, method: 'get' | 'apply', text: string) {
    this.client = new Proxy(client, {
      get: (target, property) => {
        if (property !== method) {
          const value: unknown = Reflect.get(target, property);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async (...args: Parameters<KubeClient['get']>) => {
          if (this.#isClosed && JSON.stringify(args.slice(0, 2)).includes(text)) {
            this.#isReached = true;
            await this.#opened.promise;
          }
          return target[method as 'get'](...args);
        };
      },
    });
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  close(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
    this.#opened.resolve();
  }
}

test('a TenantRoute that is deleted during a reconcile is created again', async () => {
  await using lab = await OperatorLab.start({
    edge: LAB_EDGES.traefik.spec,
    isOperatorRunning: false,
  });
  const gate = new Gate(lab.management.client(), 'get', '"snicket-blue"');
  lab.startOperator({ client: gate.client });
  await lab.addExposed('blue');
  const [route] = lab.tenantRoutes();

  // 1. A reconcile knows the TenantRoute, and waits for the answer about the missing IngressRouteTCP.
  gate.close();
  await lab.user.delete(RESOURCES.ingressRouteTcp, { name: 'snicket-blue', namespace: 'tenants' });
  await lab.until('the reconcile waits', () => gate.isReached);
  await lab.user.delete(RESOURCES.tenantRoute, route!.metadata);
  await lab.environment.pass(1000); // until the watch has reported it

  // 2. It goes on with the TenantRoute as it was.
  gate.open();

  await lab.until('blue is routed again', () => lab.routesOf('blue').length > 0);
  expect(lab.tenantRoutes()[0]!.metadata.uid).not.toBe(route!.metadata.uid);
});

/** Two tenants, and an operator whose client has a gate. Exposure `older` exists, with another host. */
async function rivals(method: 'get' | 'apply', text: string) {
  const lab = await OperatorLab.start({ isOperatorRunning: false });
  const gate = new Gate(lab.management.client(), method, text);
  lab.startOperator({ client: gate.client });
  await lab.addExposed('older');
  await lab.environment.pass(5_000);
  await lab.addTenant('younger');
  gate.close();
  return { lab, gate };
}

const WANTED = { hosts: { api: 'wanted.example.test' } };

test('a host is taken while its first TenantRoute is being written', async () => {
  const { lab, gate } = await rivals('apply', '"host":"wanted.example.test"');
  await using _ = lab;
  await lab.expose('younger', WANTED);
  await lab.until('younger writes its TenantRoute', () => gate.isReached);

  // By age the host would be older's.
  await lab.expose('older', WANTED);
  const refusal = await lab.untilCondition('older', 'Accepted', /^False HostConflict/);
  gate.open();

  expect(refusal).toContain('already used by Exposure tenants/younger');
  await lab.until('younger is routed', () => lab.routesOf('younger').length > 0);
  await lab.untilQuiet(2);
  expect(lab.apiHostsOf('older')).toEqual(['tenants-older.k8s.example.test']);
  expect(lab.condition('older', 'Accepted')).toBe(refusal);
});

test('a host whose route could not be written is granted to a waiting Exposure', async () => {
  const { lab, gate } = await rivals('apply', '"host":"wanted.example.test"');
  await using _ = lab;
  await lab.expose('younger', WANTED);
  await lab.until('younger writes its TenantRoute', () => gate.isReached);
  await lab.expose('older', WANTED);
  await lab.untilCondition('older', 'Accepted', /^False HostConflict/);

  lab.management.inject(
    { kind: 'error', status: 422, reason: 'Invalid' },
    { verb: 'apply', plural: 'tenantroutes' },
  );
  gate.open();

  await lab.untilCondition('older', 'Accepted', /^True/);
  await lab.until('older is routed', () => lab.apiHostsOf('older').includes('wanted.example.test'));
  await lab.untilCondition('younger', 'Accepted', /^False HostConflict/);
  expect(lab.routesOf('younger')).toEqual([]);
});

test('a host that another Exposure gets during a reconcile is not written again', async () => {
  const { lab, gate } = await rivals('get', '"younger-ca"');
  await using _ = lab;
  await lab.expose('younger', WANTED);
  await lab.until('younger has been granted the host', () => gate.isReached);
  await lab.expose('older', WANTED);
  await lab.until('older owns the host', () =>
    lab.apiHostsOf('older').includes('wanted.example.test'),
  );

  gate.open();

  const refusal = await lab.untilCondition('younger', 'Accepted', /^False HostConflict/);
  expect(refusal).toContain('already used by Exposure tenants/older');
  const routes = lab.management.writes().filter(({ plural }) => plural === 'tenantroutes');
  expect(routes.filter(({ name }) => name?.startsWith('younger'))).toEqual([]);
});
