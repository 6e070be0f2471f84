/**
 * For tests only: the answer to a watch, or what a fault leaves of it.
 */
import type { ServerResponse } from 'node:http';
import type { Resource } from '../resource.ts';
import { selectedBy, type ApiCall } from './api-call.ts';
import type { Fault } from './fault.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { expiredEvent, HALF_LINE, openWatch } from './watch.ts';

/** What is watched, and how. */
export interface WatchResponse {
  readonly store: ObjectStore;
  readonly call: ApiCall;
  readonly resource: Resource;
  readonly fault: Fault | undefined;
  readonly bookmarkEveryMs: number;
}

/** Begins an answer that goes on until somebody ends it. @throws ApiFailure for a selector that is none. */
export function sendWatch(response: ServerResponse, watch: WatchResponse): void {
  const { store, call, resource, fault, bookmarkEveryMs } = watch;
  const { query } = call;
  const selected = selectedBy(call);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  if (fault?.kind === 'expired-event') {
    response.end(expiredEvent());
  } else if (fault?.kind === 'short-line') {
    response.end(HALF_LINE);
  } else if (fault?.kind === 'half-line') {
    response.write(HALF_LINE);
    // The bytes must be on their way before the connection breaks.
    setTimeout(() => response.socket?.destroy(), 20);
  } else {
    const stop = openWatch({
      store,
      resource,
      selected,
      resourceVersion: query.get('resourceVersion') ?? '',
      bookmarkEveryMs: query.get('allowWatchBookmarks') === 'true' ? bookmarkEveryMs : 0,
      timeoutMs: Number(query.get('timeoutSeconds') ?? 0) * 1000,
      send: (line) => void response.write(line),
      end: () => void response.end(),
    });
    response.on('close', stop);
  }
}
