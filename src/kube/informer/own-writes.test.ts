import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { KubeObject } from '../object.ts';
import { InformerCache, type Change } from './cache.ts';
import { WithOwnWrites } from './own-writes.ts';

/** An informer whose watch delivers what the test passes to it. */
function lab() {
  const cache = new InformerCache<KubeObject>();
  const listeners: ((change: Change<KubeObject>) => void)[] = [];
  const listListeners: (() => () => void)[] = [];
  const notify = (changes: readonly Change<KubeObject>[]) => {
    for (const change of changes) for (const listener of listeners) listener(change);
  };
  const informer = {
    get: cache.get.bind(cache),
    list: cache.list.bind(cache),
    onChange: (listener: (change: Change<KubeObject>) => void) => {
      listeners.push(listener);
      return () => {};
    },
    onList: (listener: () => () => void) => {
      listListeners.push(listener);
      return () => {};
    },
  };
  const clock = new ManualClock();
  const objects = new WithOwnWrites(informer, clock);
  return {
    clock,
    objects,
    versions: () => objects.list().map(({ metadata }) => metadata.resourceVersion),
    delivers: (object: KubeObject) => notify(cache.put(object)),
    deliversDeletion: (object: KubeObject) => notify(cache.remove(object)),
    /** Begins a list. Returns a function that completes it with these objects. */
    beginsList: () => {
      const completed = listListeners.map((begin) => begin());
      return (...listed: readonly KubeObject[]) => {
        const changes = cache.replace(listed);
        for (const complete of completed) complete();
        notify(changes);
      };
    },
  };
}

function slice(resourceVersion: string, uid = 'first'): KubeObject {
  const metadata = { name: 'a', namespace: 'default', uid, resourceVersion };
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata };
}

test('a created object is listed before the watch delivers it, and once afterwards', () => {
  const { objects, versions, delivers } = lab();

  objects.wrote(slice('10'));
  expect(versions()).toEqual(['10']);
  expect(objects.get({ name: 'a', namespace: 'default' })).toEqual(slice('10'));
  delivers(slice('10'));

  expect(versions()).toEqual(['10']);
});

test('a changed object replaces an older version in the cache, but no newer one', () => {
  const { objects, versions, delivers } = lab();
  delivers(slice('9'));

  objects.wrote(slice('10'));
  expect(versions()).toEqual(['10']);
  delivers(slice('11'));

  expect(versions()).toEqual(['11']);
});

test('a deletion before the write does not hide the recreated object', () => {
  const { objects, versions, delivers, deliversDeletion } = lab();
  delivers(slice('8'));

  objects.wrote(slice('10', 'second'));
  deliversDeletion(slice('9'));

  expect(versions()).toEqual(['10']);
});

test('an object that another client deletes after the write is no longer listed', () => {
  const { objects, versions, delivers, deliversDeletion } = lab();
  objects.wrote(slice('10'));
  delivers(slice('10'));

  deliversDeletion(slice('11'));

  expect(versions()).toEqual([]);
});

test('an object that is missing in a list after the write is no longer listed', () => {
  const { objects, versions, delivers, beginsList } = lab();
  delivers(slice('8'));
  objects.wrote(slice('10'));

  // Another client has deleted it while no watch was open, so that the change shows the version before the write.
  beginsList()();

  expect(versions()).toEqual([]);
});

test('a list that began before the write does not hide it', () => {
  const { objects, versions, beginsList } = lab();
  const complete = beginsList();

  objects.wrote(slice('10'));
  complete();

  expect(versions()).toEqual(['10']);
});

test('a write that the watch does not deliver is forgotten after 30 seconds', () => {
  const { clock, objects, versions } = lab();
  objects.wrote(slice('10'));

  clock.advance(30_000);
  expect(versions()).toEqual(['10']);
  clock.advance(1);

  expect(versions()).toEqual([]);
});
