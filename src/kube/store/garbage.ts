/**
 * Garbage collection.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Resource } from '../resource.ts';
import type { ObjectStore } from './object-store.ts';
import { ObjectWrites } from './object-writes.ts';

/**
 * Deletes all objects whose owners no longer exist, including their dependents in turn. Returns how many were deleted.
 */
export function collectGarbage(
  store: ObjectStore,
  resources: readonly Resource[],
  clock: Clock = systemClock,
): number {
  const writes = new ObjectWrites(store, clock);
  let collected = 0;
  for (;;) {
    const all = resources.flatMap((resource) =>
      store.list(resource).map((object) => ({ resource, metadata: object.metadata })),
    );
    const alive = new Set(all.map(({ metadata }) => metadata.uid));
    const orphans = all.filter(
      ({ metadata: { ownerReferences = [], deletionTimestamp } }) =>
        deletionTimestamp === undefined &&
        ownerReferences.length > 0 &&
        ownerReferences.every(({ uid }) => !alive.has(uid)),
    );
    if (orphans.length === 0) return collected;
    for (const { resource, metadata } of orphans) {
      const { name, namespace } = metadata;
      const call = { subresource: undefined, manager: 'garbage-collector', dryRun: false };
      writes.remove({ ...call, resource, key: { name, namespace } }, {});
    }
    collected += orphans.length;
  }
}
