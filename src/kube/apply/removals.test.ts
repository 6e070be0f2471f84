import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Applier } from './apply.ts';
import { removals } from './removals.ts';
import type { KubeClient } from '../client/client.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';

let server: MemoryApiServer;
let ours: KubeClient;
let theirs: KubeClient;

beforeAll(async () => {
  server = await MemoryApiServer.start();
  ours = server.client();
  theirs = server.client({ fieldManager: 'other' });
});
afterAll(async () => server[Symbol.asyncDispose]());

function configMap(name: string, data: Readonly<Record<string, string>>, labels = {}) {
  const metadata = { name, namespace: 'default', labels };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

test('are exactly the fields that a server removes if they are no longer applied', async () => {
  const before = configMap('less', { kept: '1', gone: '2', 'a.b/c': '3' }, { app: 'x', old: 'y' });
  await new Applier(ours).applyIfNeeded(before, undefined);
  const less = configMap('less', { kept: '1' }, { app: 'x' });
  const live = await ours.get(RESOURCES.configMap, before.metadata);

  const found = removals(less, live!);

  expect(found.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: '.data.a.b/c', found: '3' },
    { path: '.data.gone', found: '2' },
    { path: '.metadata.labels.old', found: 'y' },
  ]);
  const after = await ours.apply(less);
  expect(after.data).toEqual({ kept: '1' });
  expect(after.metadata.labels).toEqual({ app: 'x' });
});

test('exclude fields that another manager owns too, or alone', async () => {
  const before = configMap('shared', { both: '1', ours: '2' });
  await ours.apply(before);
  await theirs.apply(configMap('shared', { both: '1', theirs: '3' }));
  const less = configMap('shared', {});
  const live = await ours.get(RESOURCES.configMap, before.metadata);

  const found = removals(less, live!);

  expect(found).toEqual([{ path: '.data.ours', found: '2' }]);
  expect((await ours.apply(less)).data).toEqual({ both: '1', theirs: '3' });
});

test('are none after an equal apply, and without an earlier apply', async () => {
  const same = configMap('same', { a: '1' }, { app: 'x' });
  await new Applier(ours).applyIfNeeded(same, undefined);
  const live = await ours.get(RESOURCES.configMap, same.metadata);

  expect(removals(same, live!)).toEqual([]);
  expect(removals(configMap('same', {}), same)).toEqual([]);
});
