/**
 * For tests only: a watch, from the events of a store to the lines of an answer.
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
  /** Empty or `0`: all that is there comes first. */
  readonly resourceVersion: string;
  /** 0: no bookmarks. */
  readonly bookmarkEveryMs: number;
  /** 0: for ever. */
  readonly timeoutMs: number;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Takes an event as a line. */
  readonly send: (line: string) => void;
  /** The server has no more to say. */
  readonly end: () => void;
}

/** Sends what has been and what comes; the returned function stops it. */
export function openWatch(request: WatchRequest): () => void {
  const { store, resource, selected, resourceVersion, send, end } = request;
  const { bookmarkEveryMs, timeoutMs, clock = systemClock } = request;
  const sendEvent = (type: string, object: JsonObject) =>
    send(`${JSON.stringify({ type, object })}\n`);
  const beganAt = Number(resourceVersion) || store.version;
  let stopListening: () => void;
  try {
    const tell = ({ type, object }: { type: string; object: JsonObject }) =>
      sendEvent(type, object);
    stopListening = watchStore({ store, resource, selected, resourceVersion, tell });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // As a real server does it: the answer begins well, and its first event says that it cannot go on.
    sendEvent('ERROR', error.body());
    end();
    return () => {};
  }

  // As a real server does it: while nothing is newer than what the watch began at, there is no bookmark.
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

/** An ERROR event that says that a version is gone. */
export function expiredEvent(): string {
  const object = new ApiFailure(410, 'Expired', 'too old resource version: 1 (2)').body();
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}

/** The first half of an event that nobody will end. */
export const HALF_LINE = '{"type":"ADDED","object":{"kind":';
