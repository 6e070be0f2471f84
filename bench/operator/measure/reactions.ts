/** Measures how fast the operator reacts to changes, in milliseconds. */
import { RESOURCES } from '../../../src/kube/resource.ts';
import { waitFor } from '../../../world/wait.ts';
import type { Lab } from '../lab.ts';
import { INGRESS_EDGE } from '../objects.ts';
import { NAMESPACE } from '../plan.ts';

const DEADLINE_MS = 60_000;

/** Times after an apply, for each of several new Exposures. */
export interface NewExposureTimes {
  /** Until the condition Routed is True. */
  readonly routed: readonly number[];
  /** Until a client reaches the tenant through the gateway. */
  readonly served: readonly number[];
  /** Until the tenant has its endpoints and proxies. */
  readonly workersReady: readonly number[];
}

/** Exposes tenants one after the other and measures each. */
export async function measureNewExposures(lab: Lab, count: number): Promise<NewExposureTimes> {
  const times = { routed: [] as number[], served: [] as number[], workersReady: [] as number[] };
  for (let index = 0; index < count; index++) {
    const tenant = lab.takeSpare();
    const beginMs = Date.now();
    const [, routedMs, servedMs, readyMs] = await Promise.all([
      lab.expose([tenant]),
      lab.exposures.untilOneReached(tenant.name, 'routed', DEADLINE_MS),
      lab.untilServed(tenant.name),
      lab.exposures.untilOneReached(tenant.name, 'WorkersReady', DEADLINE_MS),
    ]);
    times.routed.push(routedMs - beginMs);
    times.served.push(servedMs - beginMs);
    times.workersReady.push(readyMs - beginMs);
  }
  return times;
}

/** Deletes an object in several tenants, one after the other, and measures until it is restored. */
export async function measureTenantDrift(
  lab: Lab,
  object: 'slice' | 'daemonSet',
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (const { name } of lab.tenants.slice(0, count)) times.push(await lab.repair(name, object));
  return times;
}

/** Like {@link measureTenantDrift} for Ingresses of the management cluster, with Exposures of another Edge. */
export async function measureIngressDrift(lab: Lab, count: number): Promise<readonly number[]> {
  const { client } = lab.testbed;
  const tenants = Array.from({ length: count }, () => lab.takeSpare());
  await lab.expose(tenants, INGRESS_EDGE);
  const times: number[] = [];
  for (const { name } of tenants) {
    await lab.exposures.untilOneReached(name, 'WorkersReady', DEADLINE_MS);
    const { items } = await client.list(RESOURCES.ingress, { namespace: NAMESPACE });
    const ingress = items.find(
      ({ metadata }) => metadata.labels?.['snicket.dev/exposure'] === name,
    );
    if (ingress === undefined) throw new Error(`Exposure ${name} has no Ingress`);
    const { name: objectName, namespace, uid } = ingress.metadata;
    const beginMs = Date.now();
    await client.delete(RESOURCES.ingress, { name: objectName, namespace }, { uid });
    await waitFor(
      `the Ingress ${objectName} is back`,
      async () => client.get(RESOURCES.ingress, { name: objectName, namespace }),
      { deadlineMs: DEADLINE_MS, everyMs: 10 },
    );
    times.push(Date.now() - beginMs);
  }
  return times;
}
