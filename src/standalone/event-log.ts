/**
 * Events as lines of the log: here nobody runs `kubectl describe`.
 */
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ObjectStore } from '../kube/store/object-store.ts';
import type { Logger } from '../telemetry/log.ts';

/** So many are there at a time: whoever repeats one looks for it. */
const KEPT = 500;

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: Pick<KubeObject, 'kind'> & KubeObject['metadata'];
}

/** Tells of each event that is made, until the returned function is called. */
export function logEvents(store: ObjectStore, log: Logger): () => void {
  const kept: KubeObject['metadata'][] = [];
  return store.listen(({ plural, before, after }) => {
    if (plural !== RESOURCES.event.plural || before !== undefined || after === undefined) return;
    const { type, reason, note = '', regarding, metadata } = after as Event;
    const { kind, namespace, name } = regarding ?? {};
    const object = [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ');
    log[type === 'Warning' ? 'warn' : 'info'](note, { object, reason });
    kept.push(metadata);
    // Not from within the news of another one.
    if (kept.length > KEPT) queueMicrotask(() => forgetOldest(store, kept));
  });
}

function forgetOldest(store: ObjectStore, kept: KubeObject['metadata'][]): void {
  for (let oldest = kept.shift(); oldest !== undefined; oldest = kept.shift()) {
    store.remove(RESOURCES.event, oldest);
    if (kept.length <= KEPT) return;
  }
}
