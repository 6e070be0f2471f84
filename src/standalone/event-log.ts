/** Writes Events to the log, since `snicket run` has no `kubectl describe`. */
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ObjectStore } from '../kube/store/object-store.ts';
import type { Logger } from '../telemetry/log.ts';

/** Number of Events in the store. The recorder looks there for an Event to repeat. */
const MAX_EVENTS = 500;

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: Pick<KubeObject, 'kind'> & KubeObject['metadata'];
}

/** Logs each new Event until the returned function is called. */
export function logEvents(store: ObjectStore, log: Logger): () => void {
  const stored: KubeObject['metadata'][] = [];
  return store.listen(({ plural, before, after }) => {
    if (plural !== RESOURCES.event.plural || before !== undefined || after === undefined) return;
    const { type, reason, note = '', regarding, metadata } = after as Event;
    const { kind, namespace, name } = regarding ?? {};
    const object = [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ');
    log[type === 'Warning' ? 'warn' : 'info'](note, { object, reason });
    stored.push(metadata);
    // Deferred, so that the store is not changed while it notifies its listeners.
    if (stored.length > MAX_EVENTS) queueMicrotask(() => removeOldest(store, stored));
  });
}

function removeOldest(store: ObjectStore, stored: KubeObject['metadata'][]): void {
  for (let oldest = stored.shift(); oldest !== undefined; oldest = stored.shift()) {
    store.remove(RESOURCES.event, oldest);
    if (stored.length <= MAX_EVENTS) return;
  }
}
