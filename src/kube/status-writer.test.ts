import { expect, setDefaultTimeout, test } from 'bun:test';
import { addFinalizer } from './finalizer.ts';
import type { KubeObject } from './object.ts';
import { OutdatedError } from './outdated-error.ts';
import { RESOURCES } from './resource.ts';
import { MemoryApiServer } from './testing/memory/memory-api-server.ts';
import { StatusWriter } from './status-writer.ts';
import { objectOf } from '../operator/testing/objects.ts';

setDefaultTimeout(240_000);

const { signal } = new AbortController();

interface Status {
  readonly exposures: number;
}

test('a status is written only once while the watch is behind', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());

  expect(await statuses.write(seen!, { exposures: 1 }, signal)).toBe(true);

  expect(statuses.statusOf(seen!)).toEqual({ exposures: 1 });
  expect(await statuses.write(seen!, { exposures: 1 }, signal)).toBe(false);
  expect(server.writes().length).toBe(1);
});

test('a status that changes back is written, even if the watch has not delivered the change', async () => {
  await using server = await MemoryApiServer.start();
  server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const client = server.client();
  await client.patch(
    RESOURCES.edge,
    { name: 'shared' },
    'merge',
    { status: { exposures: 1 } },
    {
      subresource: 'status',
    },
  );
  const seen = server.read(RESOURCES.edge, { name: 'shared' })!;
  const statuses = new StatusWriter<Status>(client);
  await statuses.write(seen, { exposures: 2 }, signal);

  expect(await statuses.write(seen, { exposures: 1 }, signal)).toBe(true);

  expect(server.read(RESOURCES.edge, { name: 'shared' })).toMatchObject({
    status: { exposures: 1 },
  });
});

test('a later write of another client takes precedence, and so does a new object of the same name', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const client = server.client();
  const statuses = new StatusWriter<Status>(client);
  await statuses.write(seen!, { exposures: 1 }, signal);
  const key = { name: 'shared' };
  const status = { exposures: 9 };
  await client.patch(RESOURCES.edge, key, 'merge', { status }, { subresource: 'status' });

  const changed = server.read(RESOURCES.edge, key)!;
  expect(statuses.statusOf(changed)).toEqual({ exposures: 9 });

  await statuses.write(changed, { exposures: 2 }, signal);
  await client.delete(RESOURCES.edge, key);
  const [recreated] = server.seed(objectOf('Edge', key, { spec: {} }));
  expect(statuses.statusOf(recreated!)).toBeUndefined();
});

test('an own write is not foreign, whether the watch or the response arrives first', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());

  const writing = statuses.write(seen!, { exposures: 1 }, signal);
  const early = {
    ...seen!,
    metadata: { ...seen!.metadata, resourceVersion: '999999' },
    status: { exposures: 1 },
  };
  expect(statuses.isForeign(early, seen!)).toBe(false);
  await writing;

  const written = server.read(RESOURCES.edge, { name: 'shared' })!;
  expect(statuses.isForeign(written, seen!)).toBe(false);
});

test('a write of another client is foreign if it changes the status', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const client = server.client();
  const statuses = new StatusWriter<Status>(client);
  await statuses.write(seen!, { exposures: 1 }, signal);
  const key = { name: 'shared' };
  const written = server.read(RESOURCES.edge, key)!;

  const labeled = await client.patch(RESOURCES.edge, key, 'merge', {
    metadata: { labels: { a: 'b' } },
  });
  expect(statuses.isForeign(labeled, written)).toBe(false);

  const status = { exposures: 9 };
  const options = { subresource: 'status' } as const;
  const spoiled = await client.patch(RESOURCES.edge, key, 'merge', { status }, options);
  expect(statuses.isForeign(spoiled, labeled)).toBe(true);
});

test('the latest version of an object is that of the last own write', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());
  expect(statuses.latest(seen!)).toBe(seen!);

  await statuses.write(seen!, { exposures: 1 }, signal);

  const { resourceVersion } = server.read(RESOURCES.edge, { name: 'shared' })!.metadata;
  expect(statuses.latest(seen!).metadata.resourceVersion).toBe(resourceVersion);
});

test('a status is not written on top of a later write of another client', async () => {
  await using server = await MemoryApiServer.start();
  const [observed] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const client = server.client();
  const key = { name: 'shared' };
  const status = { exposures: 9 };
  const other = server.client({ fieldManager: 'other' });
  await other.patch(RESOURCES.edge, key, 'merge', { status }, { subresource: 'status' });
  const current = server.read(RESOURCES.edge, key)!;
  let watched: KubeObject = observed!;
  const statuses = new StatusWriter<Status>(client, () => watched);
  const failure = async () =>
    statuses.write(observed!, { exposures: 1 }, signal).catch((error: unknown) => error);

  // The decision is older than the change, whether the watch has delivered it or not.
  expect(await failure()).toBeInstanceOf(OutdatedError);
  watched = current;
  expect(await failure()).toBeInstanceOf(OutdatedError);

  expect(server.read(RESOURCES.edge, key)).toEqual(current);
  expect(() => statuses.assertCurrent(observed!)).toThrow(OutdatedError);
  expect(() => statuses.assertCurrent(current)).not.toThrow();
  expect(await statuses.write(current, { exposures: 1 }, signal)).toBe(true);
});

test('several own writes follow each other while the watch is behind', async () => {
  await using server = await MemoryApiServer.start();
  const key = { name: 'shared' };
  const [observed] = server.seed(objectOf('Edge', key, { spec: {} }));
  const client = server.client();
  let watched: KubeObject = observed!;
  const statuses = new StatusWriter<Status>(client, () => watched);

  await statuses.write(observed!, { exposures: 1 }, signal);
  const before = statuses.latest(observed!);
  const after = (await addFinalizer(client, RESOURCES.edge, before, 'snicket.dev/x', { signal }))!;
  statuses.wrote(before, after);
  await statuses.write(observed!, { exposures: 2 }, signal);
  // The watch has delivered one of the writes.
  watched = after;
  await statuses.write(observed!, { exposures: 3 }, signal);
  const last = statuses.latest(observed!);

  const live = server.read(RESOURCES.edge, key)!;
  expect(live).toMatchObject({ status: { exposures: 3 } });
  expect(last.metadata.finalizers).toEqual(['snicket.dev/x']);
  expect(last.metadata.resourceVersion).toBe(live.metadata.resourceVersion);
});

test('an object that another client changed after an own write is outdated', async () => {
  await using server = await MemoryApiServer.start();
  const key = { name: 'shared' };
  const [observed] = server.seed(objectOf('Edge', key, { spec: {} }));
  const client = server.client();
  let watched: KubeObject = observed!;
  const statuses = new StatusWriter<Status>(client, () => watched);
  await statuses.write(observed!, { exposures: 1 }, signal);
  const labels = { a: 'b' };
  watched = await client.patch(RESOURCES.edge, key, 'merge', { metadata: { labels } });

  const latest = statuses.latest(observed!);
  const failure = await addFinalizer(client, RESOURCES.edge, latest, 'snicket.dev/x').catch(
    (error: unknown) => error,
  );

  expect(failure).toBeInstanceOf(OutdatedError);
  expect(server.read(RESOURCES.edge, key)?.metadata.finalizers).toBeUndefined();
});
