import { expect, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { createWorld, IMAGE, PLAIN_WORLD } from '../testing/generated-worlds.ts';
import { BLUE, type ReconcileLab } from '../testing/reconcile-lab.ts';

const { exposure, serviceAccount } = RESOURCES;

/** A tenant whose proxies have left the nodes, and whose cleanup continues now. */
async function halfCleanedUp(): Promise<ReconcileLab> {
  const { spec } = PLAIN_WORLD;
  const past = { spec, image: IMAGE, reconciles: 2, drifts: [] };
  const lab = await createWorld({ ...PLAIN_WORLD, past });
  await lab.management.client('user').delete(exposure, BLUE);
  const waiting = await lab.operator(IMAGE).cleanUp();
  expect(waiting?.because).toContain('virtual address');
  await lab.runTenantControllers();
  await lab.tenant.client('user').delete(serviceAccount, PROXY);
  return lab;
}

test('removes a ServiceAccount that the last attempt itself has created', async () => {
  const lab = await halfCleanedUp();

  const waiting = await lab.operator(IMAGE).cleanUp();

  expect(waiting).toBeUndefined();
  expect(lab.tenant.objects().filter(({ metadata }) => metadata.name === PROXY.name)).toEqual([]);
});

test('keeps a ServiceAccount of another client', async () => {
  const lab = await halfCleanedUp();
  const user = lab.tenant.client('user');
  await user.create(serviceAccount, objectOf('ServiceAccount', PROXY));
  const before = await user.get(serviceAccount, PROXY);

  const waiting = await lab.operator(IMAGE).cleanUp();

  expect(waiting).toBeUndefined();
  expect(await user.get(serviceAccount, PROXY)).toEqual(before);
});
