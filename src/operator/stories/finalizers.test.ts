import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../../reconcile/finalizers.ts';
import { OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const WITHOUT_FINALIZERS = { metadata: { finalizers: null } };

function finalizersOf(lab: OperatorLab): readonly string[] {
  return lab.exposure('blue')?.metadata.finalizers ?? [];
}

/** Waits for both finalizers of the Exposure, and returns how long that took. */
async function untilHeld(lab: OperatorLab): Promise<number> {
  const { clock } = lab.environment;
  const startMs = clock.nowMs();
  await lab.until('the Exposure has its finalizers', () =>
    [ROUTES_FINALIZER, TENANT_FINALIZER].every((one) => finalizersOf(lab).includes(one)),
  );
  return clock.nowMs() - startMs;
}

/** Deletes the Exposure, and expects that its tenant is cleaned up. */
async function expectCleanup(lab: OperatorLab, { server }: LabTenant): Promise<void> {
  await lab.untilGone('blue');
  expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  expect(server.read(RESOURCES.secret, PROXY)).toBeUndefined();
  expect(server.read(RESOURCES.lease, OWNER_LEASE)).toBeUndefined();
}

describe.concurrent('an Exposure without the finalizers that another client removed', () => {
  test('gets them back at its next reconcile, and its deletion cleans up the tenant', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.change(RESOURCES.exposure, 'blue', {
      metadata: { finalizers: null, annotations: { changed: 'true' } },
    });

    await untilHeld(lab);

    await expectCleanup(lab, tenant);
  });

  test('gets them back when the operator starts', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.stopOperator();
    await lab.change(RESOURCES.exposure, 'blue', WITHOUT_FINALIZERS);

    lab.startOperator();

    await untilHeld(lab);
    await expectCleanup(lab, tenant);
  });

  test('leaves nothing in the tenant if it was deleted by force and created again', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    await lab.change(RESOURCES.exposure, 'blue', WITHOUT_FINALIZERS);
    await lab.unexpose('blue');
    await lab.expose('blue');

    await untilHeld(lab);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await expectCleanup(lab, tenant);
  });
});
