import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { hostRoute } from '../../discovery/tenant-routes.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, resourceOf } from '../../kube/resource.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const WANTED = 'wanted.example.test';
const PREVIOUS = 'tenants-mover.k8s.example.test';
const MOVED = 'moved.example.test';
/** By the order of a restore that favors the loser. */
const NAMES = ['loser', 'winner', 'mover'];

/** The winner owns a host that the loser claims too, and the mover is about to leave its host. */
async function contestedLab(): Promise<OperatorLab> {
  const lab = await OperatorLab.start({ resyncMs: 1_000 });
  await lab.addExposed('winner', { hosts: { api: WANTED } });
  await lab.addTenant('loser');
  await lab.expose('loser', { hosts: { api: WANTED } });
  await lab.untilCondition('loser', 'Accepted', /^False HostConflict/);
  await lab.addExposed('mover');
  await lab.expose('mover', { hosts: { api: MOVED } });
  await lab.until('both hosts of mover are routed', () => lab.apiHostsOf('mover').length === 2);
  await lab.stopOperator();
  return lab;
}

/** Which tenant the gateway serves by each host; hosts that it does not serve are absent. */
function served(lab: OperatorLab): Readonly<Record<string, string>> {
  const routes = lab.tenantRoutes();
  const hosts = [...new Set(routes.map(({ spec }) => spec.host))];
  return Object.fromEntries(
    hosts.flatMap((host) => {
      const tenantRoutes = routes.filter(({ spec }) => spec.host === host);
      const { route } = hostRoute({ host, tenantRoutes, slicesOf: () => [] });
      return route === undefined ? [] : [[host, route.tenant]];
    }),
  );
}

const SERVED = {
  [WANTED]: 'tenants/winner',
  [PREVIOUS]: 'tenants/mover',
  [MOVED]: 'tenants/mover',
};

/** Removes the Exposures and TenantRoutes of a cluster, and returns them as a backup has them. */
async function lost(lab: OperatorLab): Promise<readonly KubeObject[]> {
  const all: readonly KubeObject[] = lab.management.readAll();
  const backup = all
    .filter((object) => object.kind === 'Exposure' || isTenantRoute(object))
    .map((object) => structuredClone(object));
  for (const object of backup) {
    const { metadata } = object;
    const resource = resourceOf(object);
    const body = { metadata: { finalizers: null } };
    if (metadata.finalizers !== undefined) await lab.user.patch(resource, metadata, 'merge', body);
    await lab.user.delete(resource, metadata);
  }
  await lab.environment.pass(60_000);
  return backup;
}

/** Creates an object of a backup, as a restore does: with a new uid, another time and no status. */
async function restore(lab: OperatorLab, object: KubeObject, keepsOwners: boolean): Promise<void> {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const { spec } = object as KubeObject & { readonly spec: object };
  const metadata = {
    name,
    namespace,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(finalizers !== undefined && { finalizers }),
    ...(keepsOwners && ownerReferences !== undefined && { ownerReferences }),
  };
  const { apiVersion, kind } = object;
  await lab.user.create(resourceOf(object), { apiVersion, kind, metadata, spec } as KubeObject);
  // Objects of one second have the same age.
  await lab.environment.pass(5_000);
}

async function untilAsBefore(lab: OperatorLab): Promise<void> {
  for (const name of ['winner', 'mover']) await lab.untilCondition(name, 'Accepted', /^True/);
  const refusal = await lab.untilCondition('loser', 'Accepted', /^False HostConflict/);
  expect(refusal).toContain(`Host ${WANTED} is already used by Exposure tenants/winner`);
  await lab.until('every TenantRoute has its owner', () =>
    lab.tenantRoutes().every(({ metadata, spec }) => {
      const exposure = lab.exposure(spec.exposureRef.name);
      const uids = metadata.ownerReferences?.map(({ uid }) => uid);
      return exposure !== undefined && Bun.deepEquals(uids, [exposure.metadata.uid]);
    }),
  );
}

function byRestoreOrder(backup: readonly KubeObject[]) {
  const exposures = NAMES.map((name) => backup.find(({ metadata }) => metadata.name === name)!);
  return { exposures, routes: backup.filter(isTenantRoute) };
}

describe.concurrent('a restore from backup without status', () => {
  test.each([
    ['that drops owner references', false],
    ['that keeps owner references of uids that are gone', true],
  ])('%s: every host keeps its owner', async (_, keepsOwners) => {
    await using lab = await contestedLab();
    expect(served(lab)).toEqual(SERVED);
    const { exposures, routes } = byRestoreOrder(await lost(lab));
    expect(served(lab)).toEqual({});

    for (const object of [...exposures, ...routes]) {
      await restore(lab, object, keepsOwners);
      expect(SERVED).toMatchObject(served(lab));
    }
    expect(served(lab)).toEqual(SERVED);
    lab.startOperator();
    await untilAsBefore(lab);

    expect(served(lab)).toEqual(SERVED);
  });

  test('whose TenantRoutes the garbage collector deletes: every claimed host keeps its owner', async () => {
    await using lab = await contestedLab();
    const { exposures, routes } = byRestoreOrder(await lost(lab));
    for (const object of [...exposures, ...routes]) await restore(lab, object, true);

    expect(lab.management.collectGarbage()).toBe(routes.length);
    lab.startOperator();
    await untilAsBefore(lab);

    await lab.until('the hosts are routed', () => Object.keys(served(lab)).length === 2);
    expect(served(lab)).toEqual({ [WANTED]: 'tenants/winner', [MOVED]: 'tenants/mover' });
  });

  test('that restores TenantRoutes first, with the operator running: every host keeps its owner', async () => {
    await using lab = await contestedLab();
    const { exposures, routes } = byRestoreOrder(await lost(lab));
    lab.startOperator();

    for (const object of routes) await restore(lab, object, false);
    expect(served(lab)).toEqual(SERVED);
    for (const object of exposures) {
      await restore(lab, object, false);
      expect(served(lab)).toMatchObject({ [WANTED]: 'tenants/winner' });
    }
    await untilAsBefore(lab);

    expect(served(lab)).toEqual(SERVED);
  });
});

test('a TenantRoute whose Exposure does not come back reserves its host until it is deleted', async () => {
  await using lab = await contestedLab();
  const { exposures, routes } = byRestoreOrder(await lost(lab));
  const route = routes.find(({ spec }) => spec.host === WANTED)!;
  const loser = exposures.find(({ metadata }) => metadata.name === 'loser')!;
  lab.startOperator();

  await restore(lab, route, false);
  await restore(lab, loser, false);

  const refusal = await lab.untilCondition('loser', 'Accepted', /^False HostConflict/);
  expect(refusal).toContain(
    `Host ${WANTED} is reserved by TenantRoute tenants/${route.metadata.name} for Exposure tenants/winner, which does not exist.`,
  );

  await lab.user.delete(RESOURCES.tenantRoute, route.metadata);

  await lab.until('loser owns the host', () => served(lab)[WANTED] === 'tenants/loser');
});
