import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { respondWithList, eventLine, InformerLab, service, type Service } from './testing/lab.ts';
import type { InformerOptions } from './informer.ts';
import { InformerCounters, type RelistReason } from './relist.ts';
import type { KubeError } from '../kube-error.ts';
import type { Exchange, Script } from '../transport/testing/server.ts';

const STEP_MS = 1000;

const EXPIRED = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
const VERSION_TOO_LARGE = {
  kind: 'Status',
  code: 504,
  reason: 'Timeout',
  details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
};
const NO_RELISTS = new InformerCounters().relists;
const listOfBlue = (exchange: Exchange) => respondWithList(exchange, '10', service('blue', '5'));
/** Responds to a later list: blue has changed, and green is new. */
const laterList = (exchange: Exchange) =>
  respondWithList(exchange, '20', service('blue', '15'), service('green', '16'));

/** Returns a script with different behavior for the first request. */
function firstThen(first: Script, rest: Script): Script {
  let count = 0;
  return (exchange) => (count++ === 0 ? first(exchange) : rest(exchange));
}

/** Sends half of an event and resets the connection. */
const resetInLine: Script = (exchange) => {
  exchange.open();
  exchange.write('{"type":"ADDED","obj');
  setTimeout(() => exchange.reset(), 5);
};
const notJson: Script = (exchange) => {
  exchange.open();
  exchange.write('<html>\n');
};

describe('a watch that fails', () => {
  test.each<[string, string, Script]>([
    ['a reset in the middle of a line', 'Unreachable', resetInLine],
    [
      'half a line before a regular end',
      'Unreachable',
      (exchange) => {
        exchange.open();
        exchange.write('{"type":"ADDED","obj');
        exchange.finish();
      },
    ],
    ['a line that is not an event', 'Malformed', notJson],
    ['a reset before any response', 'Unreachable', (exchange) => exchange.reset()],
    ['an error of the server', 'ServerError', (exchange) => exchange.respond(500, 'broken')],
    [
      'a version that is too large for the server',
      'ServerError',
      (exchange) => exchange.respond(504, VERSION_TOO_LARGE),
    ],
    ['a missing response', 'TimedOut', () => {}],
    ['a silent connection', 'TimedOut', (exchange) => exchange.open()],
  ])('because of %s resumes from its last version, without a list', async (_, reason, fault) => {
    await using lab = await InformerLab.open();
    const failed: (string | undefined)[] = [];
    let isFaulty = true;
    lab.informer.onFailure((error) => {
      isFaulty = false;
      failed.push(error.reason);
    });
    lab.serve(listOfBlue, (exchange) => {
      // On a reused connection, fetch itself retries a GET that was reset.
      if (isFaulty) {
        fault(exchange);
        return;
      }
      exchange.open();
      exchange.write(eventLine('MODIFIED', service('blue', '15')));
    });

    lab.run();
    await lab.until(() => lab.changes.length === 1, 'the list is reported');
    await lab.until(() => lab.changes.length === 2, 'the next watch has an event', STEP_MS);

    // Only the first: the test's clock may run ahead of later requests, which then time out.
    expect(failed[0]).toBe(reason);
    expect(lab.changes).toEqual(['ADDED blue 5', 'MODIFIED blue 15']);
    expect(lab.watches.at(-1)!.query.get('resourceVersion')).toBe('10');
    expect(lab.lists).toHaveLength(1);
    expect(lab.informer.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
    expect(lab.informer.state).toMatchObject({ lists: 1, lastError: undefined, objects: 1 });
  });

  test.each<[RelistReason, string, Script]>([
    ['Expired', 'an expired version in the response', (exchange) => exchange.respond(410, EXPIRED)],
    [
      'Expired',
      'an expired version in an event',
      (exchange) => {
        exchange.open();
        exchange.write(eventLine('ERROR', EXPIRED));
      },
    ],
    [
      'Expired',
      'an expired version in an event without a code',
      (exchange) => {
        exchange.open();
        exchange.write(eventLine('ERROR', { kind: 'Status', reason: 'Gone' }));
      },
    ],
    ['NotFound', 'a kind that is not served', (exchange) => exchange.respond(404, 'not found')],
    ['Invalid', 'a rejected version', (exchange) => exchange.respond(400, 'bad version')],
    ['Malformed', 'an event that cannot be used, twice', notJson],
  ])(
    'with reason %s, because of %s, lists again and reports what has changed',
    async (reason, _, fault) => {
      await using lab = await InformerLab.open();
      lab.serve(firstThen(listOfBlue, laterList), (exchange) =>
        lab.lists.length === 1 ? fault(exchange) : exchange.open(),
      );

      lab.run();
      // The clock does not advance during the lists. Otherwise the client would time out.
      await lab.until(() => lab.changes.length === 1, 'the first list is reported');
      await lab.until(() => lab.lists.length === 2, 'there is another list', STEP_MS);
      await lab.until(() => lab.changes.length === 3, 'the second list is reported');
      await lab.until(() => lab.informer.state.isConnected, 'a watch is open');

      expect(lab.changes).toEqual(['ADDED blue 5', 'MODIFIED blue 15', 'ADDED green 16']);
      expect(lab.watches.at(-1)!.query.get('resourceVersion')).toBe('20');
      expect(lab.informer.counters).toMatchObject({
        lists: 2,
        relists: { ...NO_RELISTS, [reason]: 1 },
      });
      expect(lab.informer.state).toMatchObject({ lists: 2, lastError: undefined, objects: 2 });
    },
  );

  test('because the server is busy resumes from its last version after Retry-After', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve(
      listOfBlue,
      firstThen(
        (exchange) => {
          atMs.push(lab.clock.nowMs());
          exchange.respond(429, { kind: 'Status' }, { 'retry-after': '7' });
        },
        (exchange) => {
          atMs.push(lab.clock.nowMs());
          exchange.open();
        },
      ),
    );

    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', 100);

    expect(atMs[1]! - atMs[0]!).toBeGreaterThanOrEqual(7000);
    expect(lab.lists).toHaveLength(1);
  });
});

describe('a list that fails', () => {
  test.each<[string, Script]>([
    ['an error of the server', (exchange) => exchange.respond(500, 'broken')],
    ['no permission', (exchange) => exchange.respond(403, { kind: 'Status', message: 'no' })],
    ['a kind that is not served yet', (exchange) => exchange.respond(404, '404 page not found')],
    ['too many requests', (exchange) => exchange.respond(429, 'later', { 'retry-after': '1' })],
    ['a response that is not a list', (exchange) => exchange.respond(200, 'hello')],
    ['a reset', (exchange) => exchange.reset()],
    ['a missing response', () => {}],
    [
      'half of a response',
      (exchange) => {
        exchange.open();
        exchange.write('{"items":[');
        setTimeout(() => exchange.reset(), 5);
      },
    ],
  ])('because of %s is retried', async (_, fault) => {
    await using lab = await InformerLab.open();
    lab.serve(firstThen(fault, listOfBlue));

    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(lab.changes).toEqual(['ADDED blue 5']);
  });

  test('repeatedly is retried with backoff, up to every 30 s', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve((exchange) => {
      atMs.push(lab.clock.nowMs());
      exchange.respond(500, 'broken');
    });

    lab.run();
    await lab.until(() => atMs.length === 10, 'ten lists have failed', 100);

    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
    for (const [index, pause] of pauses.entries()) {
      const planned = Math.min(30_000, 500 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(planned);
    }
    expect(lab.informer.state).toMatchObject({ hasSynced: false, isConnected: false });
    expect(lab.informer.state.lastError?.reason).toBe('ServerError');
  });
});

describe('an object that trim, an index or a listener cannot read', () => {
  /** An object as an untrusted server may send it. */
  const malformed = { ...service('malformed', '6'), port: null } as unknown as Service;
  const portOf = ({ port = 0 }: Service) => {
    if (port === null) throw new TypeError('null is not a port');
    return String(port);
  };
  const malformedList = (exchange: Exchange) =>
    respondWithList(exchange, '10', service('blue', '5'), malformed);

  test.each<[string, Partial<InformerOptions<Service>>]>([
    ['trim', { trim: (object) => ({ ...object, port: Number(portOf(object)) }) }],
    ['an index', { indexes: { port: (object) => [portOf(object)] } }],
  ])('in %s fails the list', async (_, options) => {
    await using lab = await InformerLab.open(options);
    const failed: (KubeError | undefined)[] = [];
    lab.serve(
      firstThen(malformedList, (exchange) => {
        failed.push(lab.informer.state.lastError);
        listOfBlue(exchange);
      }),
    );

    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(failed[0]).toMatchObject({
      reason: 'Malformed',
      message: 'Service tenants/malformed is malformed: null is not a port',
    });
    expect(lab.changes).toEqual(['ADDED blue 5']);
    expect(lab.informer.state).toMatchObject({ lists: 1, failures: 1, objects: 1 });
  });

  test.each<[string, Partial<InformerOptions<Service>>]>([
    ['trim', { trim: (object) => ({ ...object, port: Number(portOf(object)) }) }],
    ['an index', { indexes: { port: (object) => [portOf(object)] } }],
  ])('in %s fails the watch', async (_, options) => {
    await using lab = await InformerLab.open(options);
    // The next watch sends the event again and fails, too. Then the informer lists.
    lab.serve(firstThen(listOfBlue, laterList), (exchange) => {
      exchange.open();
      if (lab.lists.length === 1) exchange.write(eventLine('ADDED', malformed));
    });

    lab.run();
    await lab.until(() => lab.lists.length === 2, 'there is another list', STEP_MS);
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(lab.changes).toEqual(['ADDED blue 5', 'MODIFIED blue 15', 'ADDED green 16']);
    expect(lab.watches.map(({ query }) => query.get('resourceVersion'))).toEqual([
      '10',
      '10',
      '20',
    ]);
    expect(lab.informer.state).toMatchObject({ lists: 2, failures: 2, objects: 2 });
  });

  test('in a listener counts as a failure after all listeners have received all changes', async () => {
    await using lab = await InformerLab.open();
    const received: string[] = [];
    lab.informer.onChange(({ object }) =>
      received.push(`${object.metadata.name} ${portOf(object)}`),
    );
    let failed: KubeError | undefined;
    lab.serve(
      (exchange) => respondWithList(exchange, '10', malformed, service('blue', '5')),
      (exchange) => {
        failed = lab.informer.state.lastError;
        exchange.open();
      },
    );

    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(failed?.message).toContain('Service tenants/malformed');
    expect(lab.changes).toEqual(['ADDED malformed 6', 'ADDED blue 5']);
    expect(received).toEqual(['blue 5']);
  });

  test('does not end the informer, whatever the server sends', async () => {
    const anyObject = fc.oneof(
      fc.jsonValue(),
      fc.record({ metadata: fc.jsonValue(), kind: fc.jsonValue() }),
      fc.record({
        kind: fc.jsonValue(),
        metadata: fc.record(
          {
            name: fc.oneof(fc.jsonValue(), fc.string()),
            namespace: fc.jsonValue(),
            resourceVersion: fc.jsonValue(),
            labels: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
        port: fc.jsonValue(),
      }),
    );
    const anyEvent = fc.record({
      type: fc.oneof(
        fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'),
        fc.jsonValue(),
      ),
      object: anyObject,
    });
    await using lab = await InformerLab.open({
      hasRealTimeouts: true,
      trim: (object) => ({ ...object, port: Object.keys(object.metadata.labels ?? {}).length }),
      indexes: { label: ({ metadata }) => Object.values(metadata.labels ?? {}) },
    });
    const inputs = fc.sample(fc.record({ items: fc.array(anyObject), event: anyEvent }), 200);
    lab.serve(
      (exchange) => {
        const items = lab.lists.length % 2 === 0 ? [] : (inputs[lab.lists.length]?.items ?? []);
        exchange.respond(200, { metadata: { resourceVersion: '1' }, items });
      },
      (exchange) => {
        exchange.open();
        exchange.write(`${JSON.stringify(inputs[lab.watches.length]?.event ?? null)}\n`);
        exchange.finish();
      },
    );

    lab.run();
    await lab.until(() => lab.lists.length > 60, 'there were many lists', 30_000);

    // Waits for `run`, which would have thrown.
    await lab.stop();
  });
});

describe('an outage', () => {
  test('keeps the cache, and the watch resumes afterwards without a list', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);
    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open');

    await lab.stopServer();
    await lab.until(() => lab.informer.state.failures > 3, 'several attempts have failed', STEP_MS);
    await lab.restartServer((exchange) => respondWithList(exchange, '30', service('blue', '25')));
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);
    const watch = lab.watches.at(-1)!;
    watch.write(eventLine('MODIFIED', service('blue', '25')));
    await lab.until(() => lab.changes.length === 2, 'the event is reported');

    expect(watch.query.get('resourceVersion')).toBe('10');
    expect(lab.lists).toEqual([]);
    expect(lab.versionChecks).toHaveLength(1);
    expect(lab.changes).toEqual(['ADDED blue 5', 'MODIFIED blue 25']);
    expect(lab.informer.counters).toMatchObject({ lists: 1, relists: NO_RELISTS });
  });

  test('is followed by a list if the server restarts with a lower version', async () => {
    await using lab = await InformerLab.open();
    lab.serve((exchange) =>
      respondWithList(
        exchange,
        '10',
        service('blue', '5'),
        service('gone', '6'),
        service('same', '7'),
      ),
    );
    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open');

    lab.clock.advance(1000);
    await lab.stopServer();
    await lab.until(() => !lab.informer.state.isConnected, 'the watch has broken');
    await lab.until(() => lab.informer.state.failures > 3, 'several attempts have failed', STEP_MS);
    const during = { state: lab.informer.state, objects: lab.informer.list().length };
    await lab.restartServer((exchange) =>
      respondWithList(exchange, '3', service('blue', '2', 'created again'), service('same', '7')),
    );
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(during.state).toMatchObject({ isConnected: false, staleSinceMs: 1000 });
    expect(during.objects).toBe(3);
    expect(lab.changes.slice(3)).toEqual(['DELETED gone 6', 'DELETED blue 5', 'ADDED blue 2']);
    expect(lab.watches.at(-1)!.query.get('resourceVersion')).toBe('3');
    expect(lab.informer.state.staleSinceMs).toBeUndefined();
    expect(lab.informer.counters.relists).toEqual({ ...NO_RELISTS, Regressed: 1 });
  });
});
