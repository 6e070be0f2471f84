/**
 * What a watch tells: the events of a store that are of one kind and of a selection.
 */
import type { WatchEvent } from '../client/client.ts';
import { groupOf, type Resource } from '../resource.ts';
import type { ApiObject, ObjectStore, StoreEvent } from './object-store.ts';
import type { Selector } from './selector.ts';

/** Options of {@link watchStore}. */
export interface StoreWatch {
  readonly store: ObjectStore;
  readonly resource: Resource;
  readonly selected: Selector;
  /** Empty or `0`: all that is there comes first. */
  readonly resourceVersion: string;
  readonly tell: (event: ObjectEvent) => void;
  /** Something happened that is not for this watch. */
  readonly onOther?: ((version: number) => void) | undefined;
}

/** An event of an object. */
export type ObjectEvent = Exclude<WatchEvent<ApiObject>, { readonly type: 'BOOKMARK' }>;

/** Tells what has been and what comes; the returned function stops it. @throws ApiFailure for a version that is gone */
export function watchStore(watch: StoreWatch): () => void {
  const { store, resource, selected, resourceVersion, tell, onOther } = watch;
  const group = groupOf(resource.apiVersion);
  const from = Number(resourceVersion);
  const hear = (event: StoreEvent) => {
    // A watch from a version that is yet to come is silent until that version has passed.
    if (event.version <= from) return;
    const isOurs = event.plural === resource.plural && event.group === group;
    const told = isOurs ? eventFor(event, selected) : undefined;
    if (told === undefined) onOther?.(event.version);
    else tell({ type: told.type, object: withApiVersion(told.object, resource) });
  };
  if (resourceVersion === '' || resourceVersion === '0') {
    for (const object of store.list(resource)) {
      if (selected(object)) tell({ type: 'ADDED', object: withApiVersion(object, resource) });
    }
  } else {
    for (const event of store.since(from)) hear(event);
  }
  return store.listen(hear);
}

/** An object that enters the selection is ADDED, one that leaves it DELETED, whatever happened to it. */
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

/** The object in the version of its group that was asked for. */
export function withApiVersion(object: ApiObject, { apiVersion }: Resource): ApiObject {
  return { ...object, apiVersion };
}
