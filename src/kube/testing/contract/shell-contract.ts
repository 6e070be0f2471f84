import { expect, test } from 'bun:test';
import { Applier } from '../../apply/apply.ts';
import { needsApply } from '../../apply/needs-apply.ts';
import { EventRecorder } from '../../events/events.ts';
import { addFinalizer, removeFinalizer } from '../../finalizer.ts';
import { LeaderElection } from '../../election/leader-election.ts';
import type { Lease } from '../../election/lease.ts';
import { OutdatedError } from '../../outdated-error.ts';
import { RESOURCES, resourceOf } from '../../resource.ts';
import { createLogger } from '../../../telemetry/log.ts';
import type { ApiObject } from '../../store/object-store.ts';
import {
  configMap,
  daemonSet,
  failureOf,
  ingress,
  keyOf,
  NAMESPACE,
  service,
  slice,
  present,
} from './objects.ts';
import type { ContractSubject } from './subject.ts';
import { until } from './until.ts';

const FINALIZER = 'example.invalid/clean-up';

/** Registers the tests of the code around the client: apply, finalizers, events, leader election. */
export function shellContract(subject: () => ContractSubject): void {
  const { configMap: maps, event: events, lease: leases } = RESOURCES;

  test.each([
    configMap('steady', { a: '1' }),
    service('steady', { ports: [{ name: 'api', port: 6443, protocol: 'TCP', targetPort: 6443 }] }),
    slice('steady', '192.0.2.1'),
    ingress('steady', 'steady.example.invalid'),
    daemonSet('steady', [{ name: 'A', value: '1' }]),
  ])('an applied $kind needs no second apply, not even after a restart', async (desired) => {
    const { client } = subject();

    const { outcome } = await new Applier(client).applyIfNeeded(desired, undefined);
    const live = await client.get<ApiObject>(resourceOf(desired), keyOf('steady'));
    const later = await new Applier(client).applyIfNeeded(desired, live);

    expect(outcome).toBe('applied');
    expect(needsApply(desired, live)).toBe(false);
    expect(later.outcome).toBe('unchanged');
  });

  test('reverts a change of another client', async () => {
    const { client, other } = subject();
    const desired = configMap('drift', { a: '1' });
    await new Applier(client).applyIfNeeded(desired, undefined);

    const changed = await other.patch<ApiObject>(maps, keyOf('drift'), 'merge', {
      data: { a: '2', b: '3' },
    });
    const repaired = await new Applier(client).applyIfNeeded(desired, changed, { force: true });

    expect(repaired.outcome).toBe('applied');
    expect(repaired.object?.['data']).toEqual({ a: '1', b: '3' });
  });

  test('adds and removes a finalizer, but not on top of a later write of another client', async () => {
    const { client, other } = subject();
    const created = await client.create(
      maps,
      configMap('finalized', {}, { finalizers: ['example.invalid/x'] }),
    );
    const data = { a: '1' };
    const changed = await other.patch<ApiObject>(maps, keyOf('finalized'), 'merge', { data });

    const failure = await failureOf(addFinalizer(client, maps, created, FINALIZER));
    const added = present(await addFinalizer(client, maps, changed, FINALIZER));
    await client.delete(maps, keyOf('finalized'));
    const deleted = present(await client.get<ApiObject>(maps, keyOf('finalized')));
    const removed = present(await removeFinalizer(client, maps, deleted, FINALIZER));

    expect(failure).toBeInstanceOf(OutdatedError);
    expect(added.metadata.finalizers).toEqual(['example.invalid/x', FINALIZER]);
    expect(removed.metadata.finalizers).toEqual(['example.invalid/x']);
    await removeFinalizer(client, maps, removed, 'example.invalid/x');
    expect(await client.get(maps, keyOf('finalized'))).toBeUndefined();
    expect(await removeFinalizer(client, maps, removed, 'example.invalid/x')).toBeUndefined();
  });

  test('writes an event, and its repetition as a series', async () => {
    const { client } = subject();
    const regarding = await client.apply(configMap('eventful'));
    const said = { type: 'Warning', reason: 'Odd', action: 'Look', note: 'This is odd.' } as const;
    const logger = createLogger({ level: 'error' });
    const recorder = new EventRecorder({
      client,
      controller: 'snicket.dev/test',
      instance: 'one',
      logger,
    });
    const stop = new AbortController();
    const running = recorder.run(stop.signal);
    const written = async () => {
      const { items } = await client.list<ApiObject>(events, { namespace: NAMESPACE });
      return items.filter(({ metadata }) => metadata.name.startsWith('eventful.'));
    };

    recorder.record(regarding, said);
    await until('the event exists', async () => (await written()).length === 1);
    recorder.record(regarding, said);
    recorder.record(regarding, said);
    const [event] = await until('the series counts 3', async () => {
      const all = await written();
      return (all[0]?.['series'] as { count: number } | undefined)?.count === 3 && all;
    });

    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'Odd',
      action: 'Look',
      note: 'This is odd.',
      regarding: { kind: 'ConfigMap', name: 'eventful', uid: regarding.metadata.uid },
      reportingController: 'snicket.dev/test',
      reportingInstance: 'one',
    });
    expect(await written()).toHaveLength(1);
    expect(recorder.numbers()).toMatchObject({ recorded: 3, failed: 0 });
    stop.abort();
    await running;
  });

  test('hands over a Lease as soon as its holder stops, before it expires', async () => {
    const { client, other } = subject();
    const logger = createLogger({ level: 'error' });
    const lease = keyOf('leader');
    const first = new LeaderElection({ client, lease, identity: 'one', logger });
    const two = new LeaderElection({ client: other, lease, identity: 'two', logger });
    const [stopOne, stopTwo] = [new AbortController(), new AbortController()];
    const stopWatch = new AbortController();
    const { resourceVersion } = await client.list(leases, { namespace: NAMESPACE });
    const holders: string[] = [];
    const follow = async () => {
      const watched = { namespace: NAMESPACE, resourceVersion, signal: stopWatch.signal };
      for await (const event of client.watch<Lease>(leases, watched)) {
        if (event.type === 'BOOKMARK' || event.object.metadata.name !== lease.name) continue;
        const holder = event.object.spec?.holderIdentity ?? '';
        if (holders.at(-1) !== holder) holders.push(holder);
      }
    };
    const lead = async (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

    const followed = failureOf(follow());
    const runningOne = first.run(lead, stopOne.signal);
    await until('one leads', () => first.isLeader);
    const runningTwo = two.run(lead, stopTwo.signal);
    await until('two waits', () => two.currentLeader === 'one');
    stopOne.abort();
    await runningOne;
    await until('two leads', () => two.isLeader);
    const held = await client.get<Lease>(leases, lease);

    expect(held?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    stopTwo.abort();
    await runningTwo;
    await until('both have released the Lease', () => holders.length >= 4);
    expect(holders).toEqual(['one', '', 'two', '']);
    stopWatch.abort();
    expect(await followed).toMatchObject({ reason: 'Aborted' });
  });
}
