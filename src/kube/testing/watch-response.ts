/**
 * For tests only: the response to a watch, with faults.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Resource } from '../resource.ts';
import { selectorOf, type ApiCall } from './api-call.ts';
import type { ResponseWriter } from './api-response.ts';
import type { Fault } from './fault.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { expiredEvent, HALF_LINE, openWatch } from './watch.ts';

/** Options of {@link sendWatch}. */
export interface WatchResponse {
  readonly store: ObjectStore;
  readonly call: ApiCall;
  readonly resource: Resource;
  readonly fault: Fault | undefined;
  readonly bookmarkEveryMs: number;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Starts a watch response, which lasts until either side ends it. @throws ApiFailure for an invalid selector */
export function sendWatch(response: ResponseWriter, watch: WatchResponse): void {
  const { store, call, resource, fault, bookmarkEveryMs, clock } = watch;
  const { query } = call;
  const selected = selectorOf(call);
  response.begin(200, { 'content-type': 'application/json' });
  response.flush();
  if (fault?.kind === 'expired-event') {
    response.end(expiredEvent());
  } else if (fault?.kind === 'short-line') {
    response.end(HALF_LINE);
  } else if (fault?.kind === 'half-line') {
    response.write(HALF_LINE);
    response.resetSoon();
  } else {
    const stop = openWatch({
      store,
      resource,
      selected,
      resourceVersion: query.get('resourceVersion') ?? '',
      bookmarkEveryMs: query.get('allowWatchBookmarks') === 'true' ? bookmarkEveryMs : 0,
      timeoutMs: Number(query.get('timeoutSeconds') ?? 0) * 1000,
      clock,
      send: (line) => response.write(line),
      end: () => response.end(),
    });
    response.onClose(stop);
  }
}
