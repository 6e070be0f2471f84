/**
 * The only controller of a simulated tenant. It updates the status of DaemonSets as for three real nodes: first
 * scheduled, then ready.
 */
import { RESOURCES } from '../../../src/kube/resource.ts';
import type { ObjectStore } from '../../../src/kube/store/object-store.ts';
import type { ObjectWrites } from '../../../src/kube/store/object-writes.ts';

const NODES = 3;
const SCHEDULED_MS = 100;
const READY_MS = 1000;

/** Watches the DaemonSets of a store. */
export function runDaemonSets(store: ObjectStore, writes: ObjectWrites): void {
  store.listen(({ plural, before, after }) => {
    if (plural !== RESOURCES.daemonSet.plural || after === undefined) return;
    const { name, namespace, generation, uid } = after.metadata;
    if (before?.metadata.uid === uid && before?.metadata.generation === generation) return;
    const report = (ready: number) => {
      const key = { name, namespace };
      const live = store.get(RESOURCES.daemonSet, key);
      if (live?.metadata.generation !== generation || live?.metadata.uid !== uid) return;
      const status = {
        observedGeneration: generation,
        numberMisscheduled: 0,
        desiredNumberScheduled: NODES,
        currentNumberScheduled: NODES,
        updatedNumberScheduled: NODES,
        numberReady: ready,
        numberAvailable: ready,
      };
      writes.patch(
        {
          resource: RESOURCES.daemonSet,
          key,
          subresource: 'status',
          manager: 'kube-controller-manager',
          dryRun: false,
        },
        (object) => ({ ...object, status }),
      );
    };
    setTimeout(() => report(0), SCHEDULED_MS);
    setTimeout(() => report(NODES), READY_MS);
  });
}
