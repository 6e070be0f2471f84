import { expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(120_000);

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
