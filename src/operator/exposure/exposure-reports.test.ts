import { expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '../../clock/clock.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { ExposureStatus } from '../../api/exposure.ts';
import { EventRecorder } from '../../kube/events/events.ts';
import { Informer } from '../../kube/informer/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { StatusWriter } from '../../kube/status-writer.ts';
import { MemoryApiServer } from '../../kube/testing/memory/memory-api-server.ts';
import { createLogger } from '../../telemetry/log.ts';
import { objectOf } from '../testing/objects.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { until } from '../testing/until.ts';
import { ExposureReports, type ReportState } from './exposure-reports.ts';
import {
  conditionFalse,
  conditionTrue,
  conditionPending,
  type ConditionStates,
} from '../../reconcile/conditions/condition-state.ts';

setDefaultTimeout(240_000);

const GOOD = conditionTrue('Fine', 'all is well');
const WELL: ConditionStates = {
  Accepted: GOOD,
  Prepared: GOOD,
  Routed: GOOD,
  WorkersReady: GOOD,
  KonnectivityReady: GOOD,
  Reachable: GOOD,
};
const LOST = {
  severity: 'error',
  message: 'The API server does not answer.',
  action: 'Start it.',
} as const;
const UNOBSERVED = {
  ...WELL,
  WorkersReady: conditionPending('ProxiesNotObserved', 'not observed'),
};

test('a DaemonSet that is not observed causes one event, after half a minute', async () => {
  await using server = await MemoryApiServer.start();
  server.seed(objectOf('Namespace', { name: TENANTS }));
  const [seeded] = server.seed(objectOf('Exposure', { name: 'blue', namespace: TENANTS }));
  const ended = new AbortController();
  const { signal } = ended;
  const client = server.client();
  const exposures = new Informer({ client, resource: RESOURCES.exposure });
  void exposures.run(signal);
  await exposures.synced(signal);
  const log = createLogger({ level: 'error' });
  const events = new EventRecorder({ client, controller: 'x', instance: 'y', logger: log });
  const writing = events.run(signal);
  const clock = new ManualClock();
  const watched = ({ metadata }: KubeObject) => exposures.get(metadata)!;
  const statuses = new StatusWriter<ExposureStatus>(client, watched);
  const reports = new ExposureReports({ statuses, events, log, clock });
  const state = { isReported: false };
  const report = async (conditions: ConditionStates) =>
    reports.report(seeded!, state, { isRouted: false, conditions }, signal);
  const reasons = () =>
    server
      .readAll()
      .filter(({ kind }) => kind === 'Event')
      .map((event) => (event as unknown as { reason: string }).reason);
  await report(WELL);
  await until('that it is ready', () => reasons().includes('Ready'));

  await report(UNOBSERVED);
  expect(reports.reportDelayMs(state)).toBe(30_000);
  clock.advance(29_999);
  await report(UNOBSERVED);
  expect(events.numbers().recorded).toBe(1);
  clock.advance(1);
  await report(UNOBSERVED);
  await report(UNOBSERVED);

  await until('an event about it', () => reasons().includes('ProxiesNotObserved'));
  expect(reasons().toSorted()).toEqual(['ProxiesNotObserved', 'Ready']);
  expect(reports.reportDelayMs(state)).toBeUndefined();
  ended.abort();
  await writing;
});

test('an Exposure that was not Ready before this process started, and still is not, is logged once', async () => {
  await using server = await MemoryApiServer.start();
  server.seed(objectOf('Namespace', { name: TENANTS }));
  const [blue, red, grey] = server.seed(
    ...['blue', 'red', 'grey'].map((name) => objectOf('Exposure', { name, namespace: TENANTS })),
  );
  const ended = new AbortController();
  const { signal } = ended;
  const client = server.client();
  const exposures = new Informer({ client, resource: RESOURCES.exposure });
  void exposures.run(signal);
  await exposures.synced(signal);
  const lines: unknown[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const process = () => {
    lines.length = 0;
    const log = createLogger({ level: 'info', write });
    const events = new EventRecorder({ client, controller: 'x', instance: 'y', logger: log });
    const watched = ({ metadata }: KubeObject) => exposures.get(metadata)!;
    const statuses = new StatusWriter<ExposureStatus>(client, watched);
    const reports = new ExposureReports({ statuses, events, log, clock: systemClock });
    const states = new Map<unknown, ReportState>();
    return async (exposure: typeof blue, conditions?: ConditionStates) => {
      const { name } = exposure!.metadata;
      const state = states.getOrInsertComputed(name, () => ({ isReported: false }));
      return conditions === undefined
        ? reports.reportCleanup(exposure!, state, 'the tenant does not answer', signal)
        : reports.report(exposure!, state, { isRouted: false, conditions }, signal);
    };
  };
  const lost = { ...WELL, WorkersReady: conditionFalse({ code: 'TenantUnreachable', ...LOST }) };
  const first = process();
  await first(blue, lost);
  await first(red, WELL);
  await first(grey);
  await until('the watch has delivered all of them', () =>
    exposures.list().every((exposure) => 'status' in exposure),
  );

  const second = process();
  await second(blue, lost);
  await second(red, WELL);
  await second(blue, lost);
  await second(grey);
  await second(grey);

  expect(lines).toEqual([
    {
      time: expect.any(String),
      level: 'warn',
      msg: 'exposure not ready',
      exposure: 'tenants/blue',
      reason: 'TenantUnreachable',
      message: 'The API server does not answer. Start it.',
    },
    {
      time: expect.any(String),
      level: 'warn',
      msg: 'exposure not ready',
      exposure: 'tenants/grey',
      reason: 'CleaningUp',
      message: 'the tenant does not answer',
    },
  ]);
  ended.abort();
});
