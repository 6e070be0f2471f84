import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import type { KubeClient } from '../client/client.ts';
import { eventObject, type EventNote } from './event-object.ts';
import { EventRecorder } from './events.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import { until } from '../testing/contract/until.ts';
import type { ApiObject } from '../store/object-store.ts';

const conflict: EventNote = {
  type: 'Warning',
  reason: 'HostConflict',
  action: 'Accept',
  note: 'a.example.invalid is held by another',
};

let server: MemoryApiServer;
let client: KubeClient;
let clock: ManualClock;
let recorder: EventRecorder;
let log: string[];
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  server = await MemoryApiServer.start();
  client = server.client();
  clock = new ManualClock();
  log = [];
  recorder = new EventRecorder({
    client,
    clock,
    controller: 'snicket.dev/operator',
    instance: 'operator-0',
    logger: createLogger({ write: (line) => log.push(line) }),
    now: () => new Date(Date.UTC(2026, 0, 2) + clock.nowMs()),
  });
  stop = new AbortController();
  running = recorder.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await running;
  await server[Symbol.asyncDispose]();
});

function exposure(name: string, metadata: object = { namespace: 'default' }): KubeObject {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, uid: `uid-of-${name}`, ...metadata },
  };
}

async function events(): Promise<readonly ApiObject[]> {
  return (await client.list<ApiObject>(RESOURCES.event)).items;
}

async function written(count: number): Promise<void> {
  await until(`${count} are written`, () => recorder.numbers().written === count);
}

test('counts repetitions within ten minutes in one event', async () => {
  recorder.record(exposure('a'), conflict);
  await written(1);
  clock.advance(590_000);
  recorder.record(exposure('a'), conflict);
  await written(2);
  clock.advance(590_000);
  recorder.record(exposure('a'), conflict);
  await written(3);

  const [event, ...more] = await events();
  expect(more).toEqual([]);
  expect(event?.['series']).toEqual({ count: 3, lastObservedTime: '2026-01-02T00:19:40.000000Z' });
  expect(event?.['eventTime']).toBe('2026-01-02T00:00:00.000000Z');
});

test('starts a new event after ten minutes without a repetition', async () => {
  recorder.record(exposure('a'), conflict);
  await written(1);
  clock.advance(600_000);

  recorder.record(exposure('a'), conflict);
  await written(2);

  expect((await events()).map((event) => event['series'])).toEqual([undefined, undefined]);
});

test('does not repeat an event for a lasting state that another process has written', async () => {
  const lasting = { ...conflict, isLasting: true };
  const before = new EventRecorder({
    client,
    controller: 'snicket.dev/operator',
    instance: 'operator-1',
    logger: createLogger({ write: (line) => log.push(line) }),
  });
  const ended = new AbortController();
  const running = before.run(ended.signal);
  before.record(exposure('a'), lasting);
  await until('the event is written', () => before.numbers().written === 1);
  ended.abort();
  await running;

  recorder.record(exposure('a'), lasting);
  recorder.record(exposure('b'), lasting);
  await written(2);

  const names = (await events()).map((event) => (event['regarding'] as { name: string }).name);
  expect(names.toSorted()).toEqual(['a', 'b']);
  expect(log).toEqual([]);
});

test('writes separate events for another object, reason or note', async () => {
  recorder.record(exposure('a'), conflict);
  recorder.record(exposure('b'), conflict);
  recorder.record(exposure('a'), { ...conflict, reason: 'Other' });
  recorder.record(exposure('a'), { ...conflict, note: 'Other words.' });

  await written(4);

  expect(await events()).toHaveLength(4);
});

test('continues a series in a new event if the old one was deleted', async () => {
  recorder.record(exposure('a'), conflict);
  await written(1);
  const [event] = await events();
  await client.delete(RESOURCES.event, { name: event!.metadata.name, namespace: 'default' });

  recorder.record(exposure('a'), conflict);
  await written(2);

  expect(await events()).toMatchObject([{ series: { count: 2 } }]);
});

test('writes at most twenty events in ten minutes for an object, and counts all of them', async () => {
  for (let time = 0; time < 100; time++) {
    recorder.record(exposure('a'), conflict);
    clock.advance(100);
  }
  recorder.record(exposure('b'), conflict);
  await until('b has its event', async () => (await events()).length === 2);
  expect(server.writes().length).toBeLessThanOrEqual(21);
  expect(recorder.numbers()).toMatchObject({ recorded: 101, limited: 80 });

  clock.advance(595_000);
  recorder.record(exposure('a'), conflict);

  await until('all are counted', async () =>
    (await events()).some((event) =>
      Bun.deepEquals(event['series'], {
        count: 101,
        lastObservedTime: '2026-01-02T00:10:05.000000Z',
      }),
    ),
  );
});

test('retries a failed write, and finally drops the event without an error', async () => {
  server.inject({ kind: 'error', status: 500, reason: 'InternalError' }, { verb: 'create' }, 3);

  recorder.record(exposure('a'), conflict);
  await until('the event is dropped', () => {
    clock.advance(1_000);
    return recorder.numbers().failed === 1;
  });
  expect(log.join('')).toContain('event not written');
  expect(log.join('')).toContain('HostConflict');

  recorder.record(exposure('a'), conflict);
  await written(1);
  expect(await events()).toMatchObject([{ series: { count: 2 } }]);
});

test('writes events of cluster-scoped objects to namespace default', async () => {
  recorder.record(exposure('edge', {}), conflict);

  await written(1);

  expect(await events()).toMatchObject([{ metadata: { namespace: 'default' } }]);
});

test('stays within the limits of the API', () => {
  const content = {
    regarding: exposure(`${'a'.repeat(235)}-b`),
    note: { ...conflict, note: 'é'.repeat(2_000) },
    first: new Date(0),
    series: undefined,
    controller: 'c',
    instance: 'i'.repeat(200),
  };

  const event = eventObject(content) as ApiObject;

  expect(event.metadata.name.length).toBeLessThanOrEqual(253);
  expect(event.metadata.name).toMatch(/^a{235}\.[0-9a-f]{16}$/);
  expect(Buffer.byteLength(String(event['note']))).toBeLessThanOrEqual(1024);
  expect(event['note']).toMatch(/^é+…$/);
  expect(event['reportingInstance']).toHaveLength(128);
});
