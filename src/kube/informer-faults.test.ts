import { describe, expect, test } from 'bun:test';
import { answerList, eventLine, InformerLab, service } from './informer-test-lab.ts';
import type { Exchange, Script } from './transport-test-server.ts';

const STEP_MS = 1000;

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
const listOfBlue = (exchange: Exchange) => answerList(exchange, '10', service('blue', '5'));
/** What a later list has: blue has changed, and there is green. */
const laterList = (exchange: Exchange) =>
  answerList(exchange, '20', service('blue', '15'), service('green', '16'));

/** Does this for the first request, and that for the others. */
function firstThen(first: Script, then: Script): Script {
  let count = 0;
  return (exchange) => (count++ === 0 ? first(exchange) : then(exchange));
}

describe('a watch that fails', () => {
  test.each<[string, string, Script]>([
    [
      'a version that is gone, by its answer',
      'Expired',
      (exchange) => exchange.answer(410, expired),
    ],
    [
      'a version that is gone, by an event',
      'Expired',
      (exchange) => {
        exchange.open();
        exchange.write(eventLine('ERROR', expired));
      },
    ],
    [
      'a reset in the middle of a line',
      'Unreachable',
      (exchange) => {
        exchange.open();
        exchange.write('{"type":"ADDED","obj');
        setTimeout(() => exchange.reset(), 5);
      },
    ],
    [
      'half a line and a proper end',
      'Unreachable',
      (exchange) => {
        exchange.open();
        exchange.write('{"type":"ADDED","obj');
        exchange.finish();
      },
    ],
    [
      'a line that is no event',
      'Malformed',
      (exchange) => {
        exchange.open();
        exchange.write('<html>\n');
      },
    ],
    ['a reset before any answer', 'Unreachable', (exchange) => exchange.reset()],
    ['an error of the server', 'ServerError', (exchange) => exchange.answer(500, 'broken')],
    ['an answer that never comes', 'TimedOut', () => {}],
    ['a connection that has gone silent', 'TimedOut', (exchange) => exchange.open()],
  ])('by %s is mended by a list, and what has changed is told', async (_, reason, fault) => {
    await using lab = await InformerLab.open();
    const failed: (string | undefined)[] = [];
    lab.serve(
      firstThen(listOfBlue, (exchange) => {
        failed.push(lab.informer.state.lastError?.reason);
        laterList(exchange);
      }),
      // A GET that is reset on a connection that was used before is sent once more by fetch itself.
      (exchange) => (lab.lists.length === 1 ? fault(exchange) : exchange.open()),
    );

    lab.run();
    await lab.until(() => lab.lists.length === 2, 'there is another list', STEP_MS);
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(failed).toEqual([reason]);
    expect(lab.told).toEqual(['ADDED blue 5', 'MODIFIED blue 15', 'ADDED green 16']);
    expect(lab.watches.at(-1)!.query.get('resourceVersion')).toBe('20');
    expect(lab.informer.state).toMatchObject({ lists: 2, lastError: undefined, objects: 2 });
  });

  test('because the server is busy goes on from where it was, when the server says', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve(
      listOfBlue,
      firstThen(
        (exchange) => {
          atMs.push(lab.clock.nowMs());
          exchange.answer(429, { kind: 'Status' }, { 'retry-after': '7' });
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
    ['an error of the server', (exchange) => exchange.answer(500, 'broken')],
    ['no permission', (exchange) => exchange.answer(403, { kind: 'Status', message: 'no' })],
    ['a kind that is not served yet', (exchange) => exchange.answer(404, '404 page not found')],
    ['too many requests', (exchange) => exchange.answer(429, 'later', { 'retry-after': '1' })],
    ['an answer that is no list', (exchange) => exchange.answer(200, 'hello')],
    ['a reset', (exchange) => exchange.reset()],
    ['an answer that never comes', () => {}],
    [
      'half an answer',
      (exchange) => {
        exchange.open();
        exchange.write('{"items":[');
        setTimeout(() => exchange.reset(), 5);
      },
    ],
  ])('by %s is tried again', async (_, fault) => {
    await using lab = await InformerLab.open();
    lab.serve(firstThen(fault, listOfBlue));

    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(lab.told).toEqual(['ADDED blue 5']);
  });

  test('for long is tried ever less often, up to every half minute', async () => {
    await using lab = await InformerLab.open();
    const atMs: number[] = [];
    lab.serve((exchange) => {
      atMs.push(lab.clock.nowMs());
      exchange.answer(500, 'broken');
    });

    lab.run();
    await lab.until(() => atMs.length === 10, 'there were ten', 100);

    const pauses = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
    for (const [index, pause] of pauses.entries()) {
      const planned = Math.min(30_000, 500 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(planned);
    }
    expect(lab.informer.state).toMatchObject({ hasSynced: false, isConnected: false });
    expect(lab.informer.state.lastError?.reason).toBe('ServerError');
  });
});

describe('an outage', () => {
  test('leaves the copy as it was, and what happened meanwhile is told after', async () => {
    await using lab = await InformerLab.open();
    lab.serve((exchange) =>
      answerList(exchange, '10', service('blue', '5'), service('gone', '6'), service('same', '7')),
    );
    lab.run();
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open');

    lab.clock.advance(1000);
    await lab.goDown();
    await lab.until(() => !lab.informer.state.isConnected, 'the watch has broken');
    await lab.until(() => lab.informer.state.failures > 3, 'it has failed for a while', STEP_MS);
    const during = { state: lab.informer.state, objects: lab.informer.list().length };
    await lab.comeUp((exchange) =>
      answerList(exchange, '3', service('blue', '2', 'made anew'), service('same', '7')),
    );
    await lab.until(() => lab.informer.state.isConnected, 'a watch is open', STEP_MS);

    expect(during.state).toMatchObject({ isConnected: false, staleSinceMs: 1000 });
    expect(during.objects).toBe(3);
    // A server that was restored from a backup is at an older version than before.
    expect(lab.told.slice(3)).toEqual(['DELETED gone 6', 'DELETED blue 5', 'ADDED blue 2']);
    expect(lab.watches.at(-1)!.query.get('resourceVersion')).toBe('3');
    expect(lab.informer.state.staleSinceMs).toBeUndefined();
  });
});
