import { expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../kube/resource.ts';
import { MemoryApiServer } from '../kube/testing/memory/memory-api-server.ts';
import { StatusWriter } from './status-writer.ts';
import { objectOf } from './testing/objects.ts';

setDefaultTimeout(120_000);

const { signal } = new AbortController();

interface Status {
  readonly exposures: number;
}

test('a status is written once, and not again while the watch is behind', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());

  expect(await statuses.write(seen!, { exposures: 1 }, signal)).toBe(true);

  expect(statuses.statusOf(seen!)).toEqual({ exposures: 1 });
  expect(await statuses.write(seen!, { exposures: 1 }, signal)).toBe(false);
  expect(server.writes().length).toBe(1);
});

test('a status that turns back is written, though the watch still shows it as it was', async () => {
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

test('what somebody else wrote since counts, and so does another object of the same name', async () => {
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
  const [anew] = server.seed(objectOf('Edge', key, { spec: {} }));
  expect(statuses.statusOf(anew!)).toBeUndefined();
});

test('what we wrote is not foreign, whether the watch or the answer comes first', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());

  const writing = statuses.write(seen!, { exposures: 1 }, signal);
  const early = { ...seen!, metadata: { ...seen!.metadata, resourceVersion: '999999' } };
  expect(statuses.isForeign({ ...early, ...{ status: { exposures: 1 } } }, seen!)).toBe(false);
  await writing;

  const written = server.read(RESOURCES.edge, { name: 'shared' })!;
  expect(statuses.isForeign(written, seen!)).toBe(false);
});

test('what somebody else writes is foreign, if it is to the status', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const client = server.client();
  const statuses = new StatusWriter<Status>(client);
  await statuses.write(seen!, { exposures: 1 }, signal);
  const key = { name: 'shared' };
  const written = server.read(RESOURCES.edge, key)!;

  const labelled = await client.patch(RESOURCES.edge, key, 'merge', {
    metadata: { labels: { a: 'b' } },
  });
  expect(statuses.isForeign(labelled, written)).toBe(false);

  const status = { exposures: 9 };
  const options = { subresource: 'status' } as const;
  const spoilt = await client.patch(RESOURCES.edge, key, 'merge', { status }, options);
  expect(statuses.isForeign(spoilt, labelled)).toBe(true);
});

test('the latest of an object has the version that our own write has left it with', async () => {
  await using server = await MemoryApiServer.start();
  const [seen] = server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  const statuses = new StatusWriter<Status>(server.client());
  expect(statuses.latest(seen!)).toBe(seen!);

  await statuses.write(seen!, { exposures: 1 }, signal);

  const { resourceVersion } = server.read(RESOURCES.edge, { name: 'shared' })!.metadata;
  expect(statuses.latest(seen!).metadata.resourceVersion).toBe(resourceVersion);
});
