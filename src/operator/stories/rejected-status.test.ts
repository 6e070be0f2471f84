import { expect, setDefaultTimeout, test } from 'bun:test';
import { exposureStatus } from '../../api/exposure-status.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

/** The lab's server has no schema: this refuses some statuses, as one with a CRD would. */
function refusing(client: KubeClient, isRefused: (status: unknown) => boolean): KubeClient {
  const apply: KubeClient['apply'] = async (object, options) => {
    const { status } = object as KubeObject & { readonly status?: unknown };
    const isStatus = object.kind === 'Exposure' && options?.subresource === 'status';
    if (isStatus && isRefused(status)) throw new KubeError('Invalid', '422: status is refused');
    return client.apply(object, options);
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'apply') return apply;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

test('a rejected status does not leave an outdated Ready', async () => {
  await using lab = await OperatorLab.start({ isOperatorRunning: false, hasGateway: true });
  const { controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  let isRefused = (_status: unknown) => false;
  const client = lab.management.client();
  lab.startOperator({
    client: refusing(client, (status) => isRefused(status)),
    resyncMs: 1_000,
    probeMs: 100,
  });
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True/);

  isRefused = (status) => JSON.stringify(status).includes('"ProxiesNotReady"');
  controllers.setReady('worker-1', false);

  const condition = await lab.untilCondition('blue', 'Ready', /^False CrdsOutdated/);
  expect(condition).toContain('422: status is refused');
  expect(exposureStatus.safeParse(lab.statusOf('blue')).error).toBeUndefined();
  await lab.until('there is an event', () => lab.eventsOf('blue').includes('CrdsOutdated'));

  // The gateway gets its routes all the same.
  await lab.user.patch(RESOURCES.exposure, { name: 'blue', namespace: TENANTS }, 'merge', {
    spec: { hosts: { api: 'other.example.test' } },
  });
  await lab.until('the new route', () => lab.apiHostsOf('blue').includes('other.example.test'));

  controllers.setReady('worker-1', true);

  await lab.untilCondition('blue', 'WorkersReady', /^True/);
});
