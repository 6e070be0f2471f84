/**
 * For tests only: converts store events to the lines of a watch.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Resource } from '../resource.ts';
import { ApiFailure } from '../store/api-failure.ts';
import type { JsonObject } from '../store/json.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { Selector } from '../store/selector.ts';
import { watchStore } from '../store/watch.ts';

/** Options of {@link openWatch}. */
export interface WatchRequest {
  readonly store: ObjectStore;
  readonly resource: Resource;
  readonly selected: Selector;
  /** Empty or `0`: existing objects are sent first. */
  readonly resourceVersion: string;
  /** 0: no bookmarks. */
  readonly bookmarkEveryMs: number;
  /** 0: unlimited. */
  readonly timeoutMs: number;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Sends an event as a line. */
  readonly send: (line: string) => void;
  /** Ends the response. */
  readonly end: () => void;
}

/** Sends past and future events until the returned function is called. */
export function openWatch(request: WatchRequest): () => void {
  const { store, resource, selected, resourceVersion, send, end } = request;
  const { bookmarkEveryMs, timeoutMs, clock = systemClock } = request;
  const sendEvent = (type: string, object: JsonObject) =>
    send(`${JSON.stringify({ type, object })}\n`);
  const beganAt = Number(resourceVersion) || store.version;
  let stopListening: () => void;
  try {
    const onEvent = ({ type, object }: { type: string; object: JsonObject }) =>
      sendEvent(type, object);
    stopListening = watchStore({ store, resource, selected, resourceVersion, onEvent });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // As in a real server, the response starts successfully, and its first event is the error.
    sendEvent('ERROR', error.body());
    end();
    return () => {};
  }

  // As in a real server, there is no bookmark while no version is newer than the start of the watch.
  const bookmark = () => {
    if (store.version > beganAt) sendEvent('BOOKMARK', bookmarkOf(resource, store.version));
  };
  const stopBookmarks = bookmarkEveryMs > 0 ? clock.every(bookmarkEveryMs, bookmark) : () => {};
  const stop = () => {
    stopListening();
    stopBookmarks();
    stopTimeout();
  };
  const stopTimeout =
    timeoutMs > 0
      ? clock.after(timeoutMs, () => {
          stop();
          if (bookmarkEveryMs > 0) bookmark();
          end();
        })
      : () => {};
  return stop;
}

function bookmarkOf({ kind, apiVersion }: Resource, version: number): JsonObject {
  const metadata = { resourceVersion: String(version), creationTimestamp: null };
  return { kind, apiVersion, metadata };
}

/** Returns an ERROR event for an expired version. */
export function expiredEvent(): string {
  const object = new ApiFailure(410, 'Expired', 'too old resource version: 1 (2)').body();
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}

/** The first half of an event that is never completed. */
export const HALF_LINE = '{"type":"ADDED","object":{"kind":';
