import { describe, expect, test } from 'bun:test';
import { respondWithList, eventLine, InformerLab, service, type Service } from './testing/lab.ts';
import type { Exchange } from '../transport/testing/server.ts';

const BLUE = { name: 'blue', namespace: 'tenants' };

/** Responds to a list with one object. */
const listOfBlue = (exchange: Exchange) => respondWithList(exchange, '10', service('blue', '5'));

/** Runs the informer until a watch is open. */
async function connected(lab: InformerLab): Promise<Exchange> {
  lab.run();
  await lab.until(() => lab.informer.state.isConnected, 'a watch is open');
  return lab.watches.at(-1)!;
}

describe('the cache', () => {
  test('has the objects of the list and the changes of the watch', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);

    const watch = await connected(lab);
    watch.write(eventLine('ADDED', service('green', '11')));
    watch.write(eventLine('MODIFIED', service('blue', '12')));
    watch.write(eventLine('DELETED', service('green', '13')));
    await lab.until(() => lab.changes.length === 4, 'all changes are reported');

    expect(watch.query.get('resourceVersion')).toBe('10');
    expect(lab.changes).toEqual([
      'ADDED blue 5',
      'ADDED green 11',
      'MODIFIED blue 12',
      'DELETED green 13',
    ]);
    expect(lab.informer.get(BLUE)).toEqual(service('blue', '12'));
    expect(lab.informer.list()).toEqual([service('blue', '12')]);
  });

  test('reports the start of a list, and its completion before its changes', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);
    lab.informer.onList(() => {
      lab.changes.push(`LIST after ${lab.server.exchanges.length} requests`);
      return () => lab.changes.push(`LIST of ${lab.informer.list().length}`);
    });

    await connected(lab);

    expect(lab.changes).toEqual(['LIST after 0 requests', 'LIST of 1', 'ADDED blue 5']);
  });

  test('has only selected objects', async () => {
    const selection = { namespace: 'tenants', labelSelector: 'a=b' };
    await using lab = await InformerLab.open({ selection });
    lab.serve(listOfBlue);

    await connected(lab);

    for (const { path, query } of lab.server.exchanges) {
      expect(path).toBe('/api/v1/namespaces/tenants/services');
      expect(query.get('labelSelector')).toBe('a=b');
    }
  });

  test('removes managedFields', async () => {
    const { metadata, ...rest } = service('blue', '5');
    const full = { ...rest, metadata: { ...metadata, managedFields: [{ manager: 'x' }] } };
    await using lab = await InformerLab.open();
    lab.serve((exchange) => respondWithList(exchange, '10', full));

    const watch = await connected(lab);
    const listed = lab.informer.get(BLUE);
    watch.write(
      eventLine('MODIFIED', {
        ...service('blue', '6'),
        metadata: { ...full.metadata, resourceVersion: '6' },
      }),
    );
    await lab.until(() => lab.changes.length === 2, 'all changes are reported');

    expect(listed).toEqual(service('blue', '5'));
    expect(lab.informer.get(BLUE)).toEqual(service('blue', '6'));
  });

  test('has only the fields that the trim function returns', async () => {
    const trim = ({ apiVersion, kind, metadata }: Service) => ({ apiVersion, kind, metadata });
    await using lab = await InformerLab.open({ trim });
    lab.serve((exchange) =>
      respondWithList(exchange, '10', { ...service('blue', '5'), port: 443 }),
    );

    const watch = await connected(lab);
    watch.write(eventLine('ADDED', { ...service('green', '11'), port: 443 }));
    await lab.until(() => lab.changes.length === 2, 'all changes are reported');

    expect(lab.informer.list().map(({ port }) => port)).toEqual([undefined, undefined]);
  });

  test('is searched by an index', async () => {
    const indexes = { length: ({ metadata }: Service) => [String(metadata.name.length)] };
    await using lab = await InformerLab.open({ indexes });
    lab.serve(listOfBlue);

    await connected(lab);

    expect(lab.informer.byIndex('length', '4')).toEqual([service('blue', '5')]);
    expect(lab.informer.byIndex('length', '5')).toEqual([]);
  });
});

describe('the first sync', () => {
  test('is complete with the first list, even an empty one', async () => {
    await using lab = await InformerLab.open();
    lab.serve((exchange) => respondWithList(exchange, '1'));
    const before = lab.informer.hasSynced;

    lab.run();
    await lab.informer.synced(new AbortController().signal);

    expect(before).toBe(false);
    expect(lab.informer.hasSynced).toBe(true);
  });

  test('is not awaited after the signal has aborted', async () => {
    await using lab = await InformerLab.open();
    const abort = new AbortController();
    const waiting = lab.informer.synced(abort.signal).catch((error: unknown) => error);

    abort.abort(new Error('enough'));

    expect(await waiting).toEqual(new Error('enough'));
  });
});

describe('a watch that the server ends', () => {
  test('resumes from the last event, without a list', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);

    const watch = await connected(lab);
    watch.write(eventLine('ADDED', service('green', '11')));
    await lab.until(() => lab.changes.length === 2, 'all changes are reported');
    lab.clock.advance(60_000);
    watch.finish();
    await lab.until(() => lab.watches.length === 2, 'there is another watch');

    expect(lab.watches[1]!.query.get('resourceVersion')).toBe('11');
    expect(lab.lists).toHaveLength(1);
    expect(lab.informer.state.failures).toBe(0);
  });

  test('resumes from the last bookmark', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);

    const watch = await connected(lab);
    watch.write(eventLine('BOOKMARK', { metadata: { resourceVersion: '99' } }));
    lab.clock.advance(60_000);
    watch.finish();
    await lab.until(() => lab.watches.length === 2, 'there is another watch');

    expect(lab.watches[1]!.query.get('resourceVersion')).toBe('99');
  });

  test('immediately and repeatedly is reopened with backoff', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve(listOfBlue, (exchange) => {
      atMs.push(lab.clock.nowMs());
      exchange.open();
      exchange.finish();
    });

    lab.run();
    await lab.until(() => atMs.length === 5, 'there were five', 100);

    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index);
    }
    expect(lab.lists).toHaveLength(1);
  });
});

describe('a watch that ends early', () => {
  test('but delivers an event each time is reopened after the shortest delay', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve(listOfBlue, (exchange) => {
      atMs.push(lab.clock.nowMs());
      exchange.open();
      exchange.write(eventLine('MODIFIED', service('blue', String(20 + atMs.length))));
      if (atMs.length % 2 === 0) exchange.finish();
      else setTimeout(() => exchange.reset(), 5);
    });

    lab.run();
    await lab.until(() => atMs.length === 7, 'there were seven', 10);

    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
    for (const pause of pauses) {
      expect(pause).toBeGreaterThanOrEqual(500);
      // The clock also advances while the test waits for the reset.
      expect(pause).toBeLessThan(16_000);
    }
    expect(lab.lists).toHaveLength(1);
  });
});

describe('the informer', () => {
  test('stops with the signal and releases the connection', async () => {
    await using lab = await InformerLab.open();
    lab.serve(listOfBlue);
    const watch = await connected(lab);

    await lab.stop();

    await lab.until(() => watch.isClosed, 'the connection is released');
    expect(lab.informer.state.isConnected).toBe(false);
  });

  test('stops with the signal while a list hangs', async () => {
    await using lab = await InformerLab.open();
    lab.run();
    await lab.until(() => lab.lists.length === 1, 'a list is requested');

    await lab.stop();
  });

  test('stops with the signal while it backs off', async () => {
    await using lab = await InformerLab.open();
    lab.serve((exchange) => exchange.respond(500, 'broken'));
    lab.run();
    await lab.until(() => lab.informer.state.failures === 1, 'a list has failed');

    await lab.stop();
  });

  test('keeps other listeners when one is removed', async () => {
    await using lab = await InformerLab.open();
    const heard: string[] = [];
    const stop = lab.informer.onChange(({ object }) => heard.push(object.metadata.name));
    lab.serve(listOfBlue);
    const watch = await connected(lab);

    stop();
    watch.write(eventLine('ADDED', service('green', '11')));
    await lab.until(() => lab.changes.length === 2, 'all changes are reported');

    expect(heard).toEqual(['blue']);
  });
});
