/**
 * Watches a store for one kind and selection.
 */
import type { WatchEvent } from '../client/client.ts';
import { groupOf, type Resource } from '../resource.ts';
import type { ApiObject, ObjectStore, StoreEvent } from './object-store.ts';
import type { Selector } from './selector.ts';

interface StoreWatch {
  readonly store: ObjectStore;
  readonly resource: Resource;
  readonly selected: Selector;
  /** Empty or `0`: existing objects are sent first. */
  readonly resourceVersion: string;
  readonly onEvent: (event: ObjectEvent) => void;
  /** Called for events that do not belong to this watch. */
  readonly onOther?: ((version: number) => void) | undefined;
}

/** An event of an object. */
type ObjectEvent = Exclude<WatchEvent<ApiObject>, { readonly type: 'BOOKMARK' }>;

/**
 * Sends past and future events until the returned function is called. @throws ApiFailure if the version is no longer
 * available
 */
export function watchStore(watch: StoreWatch): () => void {
  const { store, resource, selected, resourceVersion, onEvent, onOther } = watch;
  const group = groupOf(resource.apiVersion);
  const from = Number(resourceVersion);
  const handle = (event: StoreEvent) => {
    // A watch from a future version sends nothing until that version has passed.
    if (event.version <= from) return;
    const isOurs = event.plural === resource.plural && event.group === group;
    const selectedEvent = isOurs ? eventFor(event, selected) : undefined;
    if (selectedEvent === undefined) onOther?.(event.version);
    else
      onEvent({ type: selectedEvent.type, object: withApiVersion(selectedEvent.object, resource) });
  };
  if (resourceVersion === '' || resourceVersion === '0') {
    for (const object of store.list(resource)) {
      if (selected(object)) onEvent({ type: 'ADDED', object: withApiVersion(object, resource) });
    }
  } else {
    for (const event of store.since(from)) handle(event);
  }
  return store.listen(handle);
}

/** Returns the event for a selection: an object that enters it is ADDED, and one that leaves it is DELETED. */
function eventFor(
  { before, after, version }: StoreEvent,
  selected: Selector,
): ObjectEvent | undefined {
  const wasSelected = before !== undefined && selected(before);
  const isSelected = after !== undefined && selected(after);
  if (isSelected) return { type: wasSelected ? 'MODIFIED' : 'ADDED', object: after };
  if (!wasSelected) return undefined;
  const metadata = { ...before.metadata, resourceVersion: String(version) };
  return { type: 'DELETED', object: { ...before, metadata } };
}

/** Returns the object with the requested apiVersion. */
export function withApiVersion(object: ApiObject, { apiVersion }: Resource): ApiObject {
  return { ...object, apiVersion };
}
