import { expect, setDefaultTimeout, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { ResyncPeriod } from './resync-period.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const MINUTE_MS = 60_000;
/** The fake time passes in steps of this length. */
const STEP_MINUTES = 40;

test('the period of a steady Exposure doubles, up to the longest', () => {
  const clock = new ManualClock();
  const period = new ResyncPeriod({ minMs: 10, maxMs: 60 }, clock);
  period.lengthen();
  const seenMs = [1, 2, 3, 4, 5].map(() => {
    const { ms } = period;
    // A reconcile before the end of the period does not count.
    period.lengthen();
    clock.advance(ms);
    period.lengthen();
    return ms;
  });

  expect(seenMs).toEqual([10, 20, 40, 60, 60]);
  period.reset();
  expect(period.ms).toBe(10);
});

test('a steady tenant is fully reconciled less and less often, and soon again after drift was repaired', async () => {
  await using lab = await OperatorLab.start({ resyncMs: 2 * MINUTE_MS, hasGateway: true });
  const { server, user, controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True Ready/);
  // Endpoints are not watched: a full reconcile reads them.
  const reads = () =>
    server.requests().filter(({ verb, plural }) => verb === 'get' && plural === 'endpoints').length;
  const readsWithin = async (minutes: number) => {
    const before = reads();
    const { clock } = lab.environment;
    for (let left = minutes; left > 0; left -= STEP_MINUTES) {
      const endMs = clock.nowMs() + Math.min(left, STEP_MINUTES) * MINUTE_MS;
      await lab.until('minutes have passed', () => clock.nowMs() >= endMs);
    }
    return reads() - before;
  };

  // After 10, 20 and 40 minutes, and then every hour.
  expect(await readsWithin(240)).toBeLessThanOrEqual(7);
  const steady = await readsWithin(240);
  expect(steady).toBeGreaterThanOrEqual(3);
  expect(steady).toBeLessThanOrEqual(5);

  await user.delete(RESOURCES.endpoints, KUBERNETES);
  for (let minute = 0; server.read(RESOURCES.endpoints, KUBERNETES) === undefined; minute++) {
    expect(minute).toBeLessThan(90);
    await readsWithin(1);
  }
  // After 10 minutes, and 20 minutes later.
  expect(await readsWithin(35)).toBeGreaterThanOrEqual(2);
});
