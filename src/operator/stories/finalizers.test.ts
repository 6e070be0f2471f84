import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Edge } from '../../api/edge.ts';
import { EDGE_PROTECTION_FINALIZER } from '../../api/edge-deletion.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from '../../reconcile/finalizers.ts';
import { OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const NEVER = { resyncMs: 36_000_000 };
const WITHOUT_FINALIZERS = { metadata: { finalizers: null } };

function finalizersOf(lab: OperatorLab): readonly string[] {
  return lab.exposure('blue')?.metadata.finalizers ?? [];
}

/** Waits for both finalizers of the Exposure, and returns how long that took. */
async function untilHeld(lab: OperatorLab): Promise<number> {
  const { clock } = lab.environment;
  const startMs = clock.nowMs();
  await lab.until('the Exposure has its finalizers', () =>
    [ROUTES_FINALIZER, TENANT_FINALIZER].every((finalizer) =>
      finalizersOf(lab).includes(finalizer),
    ),
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

  test('gets them back at once', async () => {
    await using lab = await OperatorLab.start(NEVER);
    const tenant = await lab.addExposed('blue');
    await lab.environment.pass(60_000);
    await lab.change(RESOURCES.exposure, 'blue', WITHOUT_FINALIZERS);

    expect(await untilHeld(lab)).toBeLessThan(10_000);

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

describe.concurrent('an Edge in use, changed by another client,', () => {
  test('gets its finalizer back at once, so it is not deleted while it is used', async () => {
    await using lab = await OperatorLab.start(NEVER);
    await lab.addExposed('blue');
    const edge = () => lab.management.read(RESOURCES.edge, { name: 'shared' });
    const isProtected = () =>
      edge()?.metadata.finalizers?.includes(EDGE_PROTECTION_FINALIZER) === true;
    await lab.until('it is protected', isProtected);
    await lab.environment.pass(60_000);
    await lab.change(RESOURCES.edge, 'shared', WITHOUT_FINALIZERS);

    await lab.environment.pass(10_000);

    expect(isProtected()).toBe(true);
    await lab.user.delete(RESOURCES.edge, { name: 'shared' });
    await lab.environment.pass(60_000);
    expect(edge()).toBeDefined();
  });

  test('gets its whole status back at once', async () => {
    await using lab = await OperatorLab.start(NEVER);
    await lab.addExposed('blue');
    await lab.environment.pass(60_000);
    const key = { name: 'shared' };
    const statusOf = () => (lab.management.read(RESOURCES.edge, key) as Partial<Edge>).status;
    const before = statusOf();
    expect(before).toMatchObject({ exposures: 1 });

    const status = { exposures: 77, conditions: [] };
    const options = { subresource: 'status' } as const;
    await lab.user.patch(RESOURCES.edge, key, 'merge', { status }, options);

    await lab.environment.pass(10_000);
    const conditions = before!.conditions!.map((condition) => ({
      ...condition,
      lastTransitionTime: expect.any(String) as string,
    }));
    expect(statusOf()).toEqual({ ...before!, conditions });
  });
});
