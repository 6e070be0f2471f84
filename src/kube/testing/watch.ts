/**
 * For tests only: a watch, from the events of a store to the lines of an answer.
 */
import { groupOf, type Resource } from '../resource.ts';
import { ApiFailure } from './api-failure.ts';
import type { JsonObject } from './json.ts';
import type { ApiObject, ObjectStore, StoreEvent } from './object-store.ts';
import type { Selector } from './selector.ts';

/** Options of {@link openWatch}. */
export interface WatchRequest {
  readonly store: ObjectStore;
  readonly resource: Resource;
  readonly selected: Selector;
  /** Empty or `0`: all that is there comes first. */
  readonly resourceVersion: string;
  /** 0: no bookmarks. */
  readonly bookmarkEveryMs: number;
  /** 0: for ever. */
  readonly timeoutMs: number;
  /** Takes an event as a line. */
  readonly send: (line: string) => void;
  /** The server has no more to say. */
  readonly end: () => void;
}

/** Sends what has been and what comes; the returned function stops it. */
export function openWatch(request: WatchRequest): () => void {
  const { store, resource, selected, send, end } = request;
  const sendEvent = (type: string, object: JsonObject) =>
    send(`${JSON.stringify({ type, object })}\n`);
  const isOurs = (event: StoreEvent) =>
    event.plural === resource.plural && event.group === groupOf(resource.apiVersion);
  const tell = (event: StoreEvent) => {
    if (!isOurs(event)) return;
    const told = eventFor(event, selected);
    if (told !== undefined) sendEvent(told.type, withApiVersion(told.object, resource));
  };

  try {
    if (request.resourceVersion === '' || request.resourceVersion === '0') {
      for (const object of store.list(resource)) {
        if (selected(object)) sendEvent('ADDED', withApiVersion(object, resource));
      }
    } else {
      for (const event of store.since(Number(request.resourceVersion))) tell(event);
    }
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // As a real server does it: the answer begins well, and its first event says that it cannot go on.
    sendEvent('ERROR', error.body());
    end();
    return () => {};
  }

  const beganAt = Number(request.resourceVersion) || store.version;
  // As a real server does it: while nothing is newer than what the watch began at, there is no bookmark.
  const bookmark = () => {
    if (store.version > beganAt) sendEvent('BOOKMARK', bookmarkOf(resource, store.version));
  };
  const stopListening = store.listen(tell);
  const bookmarks =
    request.bookmarkEveryMs > 0 ? setInterval(bookmark, request.bookmarkEveryMs) : undefined;
  const stop = () => {
    stopListening();
    clearInterval(bookmarks);
    clearTimeout(timeout);
  };
  const timeout =
    request.timeoutMs > 0
      ? setTimeout(() => {
          stop();
          if (request.bookmarkEveryMs > 0) bookmark();
          end();
        }, request.timeoutMs)
      : undefined;
  return stop;
}

/** An object that enters the selection is ADDED, one that leaves it DELETED, whatever happened to it. */
function eventFor(
  { before, after, version }: StoreEvent,
  selected: Selector,
): { readonly type: string; readonly object: ApiObject } | undefined {
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

function bookmarkOf({ kind, apiVersion }: Resource, version: number): JsonObject {
  const metadata = { resourceVersion: String(version), creationTimestamp: null };
  return { kind, apiVersion, metadata };
}

/** An ERROR event that says that a version is gone. */
export function expiredEvent(): string {
  const object = new ApiFailure(410, 'Expired', 'too old resource version: 1 (2)').body();
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}

/** The first half of an event that nobody will end. */
export const HALF_LINE = '{"type":"ADDED","object":{"kind":';
