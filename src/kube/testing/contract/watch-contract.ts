import { expect, test } from 'bun:test';
import type { KubeClient, WatchEvent } from '../../client/client.ts';
import { RESOURCES } from '../../resource.ts';
import type { ApiObject } from '../../store/object-store.ts';
import { configMap, failureOf, keyOf, NAMESPACE } from './objects.ts';
import type { ContractSubject } from './subject.ts';

const maps = RESOURCES.configMap;

/** A real server sends a bookmark about once a minute. */
const BOOKMARK_DEADLINE_MS = 120_000;

/** Registers the tests of watches. */
export function watchContract(subject: () => ContractSubject): void {
  test('reports events after a version, in order', async () => {
    const { client } = subject();
    const labels = { watch: 'order' };
    const labelSelector = 'watch=order';
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE, labelSelector });
    await client.create(maps, configMap('order-a', { step: '1' }, { labels }));

    const seen = watched(client, { resourceVersion, labelSelector }, 4);
    await client.patch(maps, keyOf('order-a'), 'merge', { data: { step: '2' } });
    await client.create(maps, configMap('order-b', { step: '3' }, { labels }));
    await client.delete(maps, keyOf('order-a'));

    expect((await seen).map(eventText)).toEqual([
      'ADDED order-a 1',
      'MODIFIED order-a 2',
      'ADDED order-b 3',
      'DELETED order-a 2',
    ]);
  });

  test('sends a version to resume from with every event', async () => {
    const { client } = subject();
    const labels = { watch: 'resume' };
    const labelSelector = 'watch=resume';
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE, labelSelector });
    await client.create(maps, configMap('resume-a', { step: '1' }, { labels }));
    await client.delete(maps, keyOf('resume-a'));
    await client.create(maps, configMap('resume-b', { step: '2' }, { labels }));

    const first = await watched(client, { resourceVersion, labelSelector }, 2);
    const rest = await watched(client, { resourceVersion: versionOf(first[1]), labelSelector }, 1);

    expect(first.map(eventText)).toEqual(['ADDED resume-a 1', 'DELETED resume-a 1']);
    expect(rest.map(eventText)).toEqual(['ADDED resume-b 2']);
  });

  test('reports an object that leaves a selection as deleted', async () => {
    const { client } = subject();
    const labelSelector = 'watch=selected';
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE, labelSelector });
    const labeled = (watch: string) => ({ metadata: { labels: { watch } } });
    await client.create(maps, configMap('selected', { step: '1' }));

    await client.patch(maps, keyOf('selected'), 'merge', labeled('selected'));
    await client.patch(maps, keyOf('selected'), 'merge', { data: { step: '2' } });
    await client.patch(maps, keyOf('selected'), 'merge', labeled('no'));
    const seen = await watched(client, { resourceVersion, labelSelector }, 3);

    expect(seen.map(eventText)).toEqual([
      'ADDED selected 1',
      'MODIFIED selected 2',
      'DELETED selected 2',
    ]);
  });

  test('watches a single object by its name', async () => {
    const { client } = subject();
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE });

    const fieldSelector = 'metadata.name=named-b';
    const seen = watched(client, { resourceVersion, fieldSelector }, 1);
    await client.create(maps, configMap('named-a', { step: '1' }));
    await client.create(maps, configMap('named-b', { step: '1' }));

    expect((await seen).map(eventText)).toEqual(['ADDED named-b 1']);
  });

  test('fails with Expired for a version that is no longer available', async () => {
    const { client } = subject();

    expect(await failureOf(watched(client, { resourceVersion: '1' }, 1))).toMatchObject({
      reason: 'Expired',
      status: 410,
    });
  });

  test('sends nothing until a future version has passed', async () => {
    const { client } = subject();
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE });
    const future = Number(resourceVersion) + 5;

    const labelSelector = 'watch=future';
    const seen = watched(client, { resourceVersion: String(future), labelSelector }, 1);
    for (let step = 1; step <= 10; step++) {
      const labels = { watch: 'future' };
      await client.create(maps, configMap(`future-${step}`, { step: String(step) }, { labels }));
    }
    const [event] = await seen;

    expect(Number(versionOf(event))).toBeGreaterThan(future);
  });

  test('ends with Aborted when its signal aborts', async () => {
    const { client } = subject();
    const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE });
    const caller = new AbortController();

    const { signal } = caller;
    const selection = { namespace: NAMESPACE, labelSelector: 'watch=aborted', signal };
    const watch = client.watch(maps, { ...selection, resourceVersion })[Symbol.asyncIterator]();
    const next = watch.next();
    await client.create(maps, configMap('aborted', {}, { labels: { watch: 'aborted' } }));
    await next;
    const rest = failureOf(untilEnd(watch));
    caller.abort();

    expect(await rest).toMatchObject({ reason: 'Aborted' });
  });

  test(
    'sends bookmarks without events of selected objects, each with a version to resume from',
    async () => {
      const { client } = subject();
      const { resourceVersion } = await client.list(maps, { namespace: NAMESPACE });
      const labelSelector = 'watch=bookmark';
      // A real server sends no bookmark while nothing at all changes.
      const onOpen = () => void client.create(maps, configMap('no-bookmark', {}));
      const selection = { namespace: NAMESPACE, labelSelector, resourceVersion, onOpen };

      let bookmark = '';
      for await (const event of client.watch(maps, selection)) {
        if (event.type !== 'BOOKMARK') throw new Error(`an event of nothing: ${event.type}`);
        bookmark = event.resourceVersion;
        break;
      }
      const labels = { watch: 'bookmark' };
      await client.create(maps, configMap('bookmark', { step: '1' }, { labels }));
      const seen = await watched(client, { resourceVersion: bookmark, labelSelector }, 1);

      expect(Number(bookmark)).toBeGreaterThan(Number(resourceVersion));
      expect(seen.map(eventText)).toEqual(['ADDED bookmark 1']);
    },
    BOOKMARK_DEADLINE_MS,
  );
}

/** Returns the next events other than bookmarks. */
async function watched(
  client: KubeClient,
  selection: { resourceVersion: string; labelSelector?: string; fieldSelector?: string },
  count: number,
): Promise<readonly WatchEvent<ApiObject>[]> {
  const signal = AbortSignal.timeout(20_000);
  const events: WatchEvent<ApiObject>[] = [];
  const options = { namespace: NAMESPACE, ...selection, signal };
  for await (const event of client.watch<ApiObject>(maps, options)) {
    if (event.type !== 'BOOKMARK') events.push(event);
    if (events.length === count) break;
  }
  return events;
}

async function untilEnd(watch: AsyncIterator<unknown>): Promise<void> {
  while ((await watch.next()).done !== true);
}

function eventText(event: WatchEvent<ApiObject>): string {
  if (event.type === 'BOOKMARK') return event.type;
  const { step } = event.object['data'] as { readonly step: string };
  return `${event.type} ${event.object.metadata.name} ${step}`;
}

function versionOf(event: WatchEvent<ApiObject> | undefined): string {
  if (event === undefined || event.type === 'BOOKMARK') throw new Error('no event of an object');
  return event.object.metadata.resourceVersion ?? '';
}
