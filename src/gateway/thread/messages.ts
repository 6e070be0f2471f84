/** The messages between the main thread and an engine thread. */
import type { EngineChoice } from '../../engine/open-engine.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { Limits } from '../../engine/limits.ts';
import type { AssignedRoute, RouteChanges } from '../routes/route-table.ts';
import type { TenantLimits } from '../router/route-index.ts';
import type { ProxyProtocol } from '../router/trusted-sources.ts';

/** The first message: the data that a thread needs to start. */
export interface ThreadStart {
  readonly type: 'start';
  readonly index: number;
  readonly engine: EngineChoice;
  readonly listen: readonly ListenAddress[];
  readonly slots: number;
  /** The counters of every thread; those of this thread are at its index. */
  readonly counters: readonly SharedArrayBuffer[];
  readonly rates: SharedArrayBuffer;
  readonly limits: Partial<Limits>;
  readonly maxConnections: number;
  readonly tenantLimits: TenantLimits;
  readonly proxyProtocol: ProxyProtocol;
  readonly hasAccessLog: boolean;
  readonly routes: readonly AssignedRoute[];
  /** Version of these routes. */
  readonly version: number;
  readonly masterKeys: readonly Uint8Array[];
}

/** Messages from the main thread to an engine thread. */
export type ToThread =
  | ThreadStart
  | { readonly type: 'routes'; readonly version: number; readonly changes: RouteChanges }
  | { readonly type: 'keys'; readonly masterKeys: readonly Uint8Array[] }
  | { readonly type: 'stop-accepting' }
  | { readonly type: 'close-oldest'; readonly count: number }
  | { readonly type: 'stop' };

/** Messages from an engine thread to the main thread. */
export type FromThread =
  | {
      readonly type: 'listening';
      /** The addresses with the ports that the system assigned. Without IPv6 there are fewer than configured. */
      readonly addresses: readonly ListenAddress[];
      /** The reason for each missing address. */
      readonly skipped: readonly string[];
      readonly engine: string;
      readonly fallbackReason: string | undefined;
    }
  | { readonly type: 'cannot-start'; readonly error: string }
  /** The thread has closed its sockets and can be terminated. `error` is set if it crashed. */
  | { readonly type: 'stopped'; readonly error?: string }
  | { readonly type: 'applied'; readonly version: number }
  /** The keys were invalid, so the thread keeps its previous keys. */
  | { readonly type: 'keys-refused'; readonly error: string }
  | { readonly type: 'fault'; readonly error: string; readonly stack: string | undefined }
  | { readonly type: 'access-log'; readonly lines: string; readonly count: number };
