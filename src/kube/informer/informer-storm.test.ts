import { expect, test } from 'bun:test';
import { until } from '../../net/testing/peer.ts';
import { createClient } from '../client/fetch-client.ts';
import { Informer } from './informer.ts';
import { fastClock } from './testing/fast-clock.ts';
import { keyText, type KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { TestApiServer } from '../testing/api-server.ts';
import type { Fault } from '../testing/fault.ts';
import { steadyWrite } from '../testing/steady-write.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const FAULTS: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'half-line' },
  { kind: 'short-line' },
  { kind: 'expired-event' },
  { kind: 'error', status: 410, reason: 'Expired' },
  { kind: 'error', status: 429, reason: 'TooManyRequests' },
  { kind: 'error', status: 500, reason: 'InternalError' },
  { kind: 'slow', pieces: 40, pauseMs: 1 },
  { kind: 'hang' },
];

const KEYS = [1, 2, 3, 4, 5, 6, 7].map((n) => ({ name: `map-${n}`, namespace: 'default' }));

function numbersIn(all: Iterable<ConfigMap>): string[] {
  return [...all].map(({ metadata, data }) => `${keyText(metadata)} ${data?.['n']}`).toSorted();
}

test('all changes arrive in a storm of faults, and reproduce the content of the cache', async () => {
  await using server = await TestApiServer.start();
  const { configMap } = RESOURCES;
  const writer = createClient(server.access);
  const client = createClient(server.access, { clock: fastClock });
  const informer = new Informer<ConfigMap>({ client, resource: configMap, clock: fastClock });
  const followed = new Map<string, ConfigMap>();
  informer.onChange(({ type, object }) => {
    if (type === 'DELETED') followed.delete(keyText(object.metadata));
    else followed.set(keyText(object.metadata), object);
  });
  const abort = new AbortController();
  const running = informer.run(abort.signal);

  for (const [round, fault] of FAULTS.entries()) {
    await until(() => informer.state.isConnected, 'a watch is open', 200_000);
    server.inject(fault, { verb: 'watch', plural: 'configmaps' });
    if (fault.kind !== 'short-line') server.inject(fault, { verb: 'list', plural: 'configmaps' });
    if (round % 2 === 0) server.endWatches();
    else server.resetConnections();
    if (round % 4 === 3) server.compact();
    for (let n = round * 10; n < round * 10 + 10; n++) {
      const key = KEYS[n % KEYS.length]!;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
      await steadyWrite<unknown>(async () =>
        n % 5 === 4
          ? writer.delete(configMap, key)
          : writer.apply<ConfigMap>({ ...object, data: { n: String(n) } }),
      );
    }
    const expected = numbersIn(KEYS.map((key) => server.read(configMap, key) ?? []).flat());
    const isRight = () => Bun.deepEquals(numbersIn(informer.list()), expected);
    await until(isRight, `the copy is right after ${JSON.stringify(fault)}`, 200_000);

    expect(numbersIn(followed.values())).toEqual(expected);
  }

  expect(informer.state.failures).toBeGreaterThan(FAULTS.length / 2);
  abort.abort();
  await running;
});
