import { expect, test } from 'bun:test';
import { InformerCache } from './cache.ts';
import { respondWithList, eventLine, InformerLab, service } from './testing/lab.ts';

const BOUNDS = { objects: 2, bytes: 400 };
const SELECTION = {
  namespace: 'tenants',
  labelSelector: 'a=b',
  fieldSelector: 'metadata.name=blue',
};

function labeled(name: string, version: string, labels: Readonly<Record<string, string>>) {
  const object = service(name, version);
  return { ...object, metadata: { ...object.metadata, labels } };
}

test('a cache is limited in the number and the size of its objects', () => {
  const cache = new InformerCache({}, BOUNDS);
  cache.put(service('blue', '1'));
  cache.put(service('green', '1'));

  expect(() => cache.put(service('red', '1'))).toThrow('more than 2 objects');
  expect(() => cache.put(labeled('blue', '2', { a: 'x'.repeat(400) }))).toThrow('400 bytes');
  expect(cache.size).toBe(2);

  cache.remove(service('green', '1'));
  expect(cache.put(service('red', '1'))).toMatchObject([{ type: 'ADDED' }]);
});

test('the size counts bytes of UTF-8', () => {
  const cache = new InformerCache({}, BOUNDS);

  // 150 letters of three bytes each.
  expect(() => cache.put(labeled('blue', '1', { a: '漢'.repeat(150) }))).toThrow('400 bytes');
});

test('a changed object replaces its previous version in the size', () => {
  const cache = new InformerCache({}, { objects: 1, bytes: 200 });

  for (let version = 1; version < 50; version++) cache.put(service('blue', String(version)));

  expect(cache.list()).toEqual([service('blue', '49')]);
});

test('a list that is too long is rejected', async () => {
  await using lab = await InformerLab.open({ bounds: BOUNDS });
  const services = ['a', 'b', 'c'].map((name) => service(name, '1'));
  lab.serve((exchange) => respondWithList(exchange, '1', ...services));

  lab.run();

  await lab.until(() => lab.informer.state.failures > 0, 'it has failed');
  expect(lab.informer.state).toMatchObject({
    hasSynced: false,
    objects: 0,
    lastError: { reason: 'Malformed', message: 'a cache has more than 2 objects' },
  });
});

test.each([
  ['another namespace', { ...SELECTION, namespace: 'others' }],
  ['another label', { ...SELECTION, labelSelector: 'a=c' }],
  ['another name', { ...SELECTION, fieldSelector: 'metadata.name=green' }],
])('an object of %s than the selected one is rejected', async (_, selection) => {
  await using lab = await InformerLab.open({ bounds: BOUNDS, selection });
  lab.serve((exchange) => respondWithList(exchange, '1', labeled('blue', '1', { a: 'b' })));

  lab.run();

  await lab.until(() => lab.informer.state.failures > 0, 'it has failed');
  expect(lab.informer.state.lastError?.message).toContain('Service tenants/blue does not match');
});

test('an object that no longer matches the selection is deleted from the cache', async () => {
  await using lab = await InformerLab.open({ bounds: BOUNDS, selection: SELECTION });
  lab.serve(
    (exchange) => respondWithList(exchange, '1', labeled('blue', '1', { a: 'b' })),
    (exchange) => {
      exchange.open();
      exchange.write(eventLine('DELETED', labeled('blue', '2', { a: 'c' })));
    },
  );

  lab.run();

  await lab.until(() => lab.changes.length === 2, 'the change is reported');
  expect(lab.changes).toEqual(['ADDED blue 1', 'DELETED blue 2']);
});
