/**
 * What the main thread and an engine's thread say to each other.
 */
import type { EngineChoice } from '../../engine/open-engine.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { Limits } from '../../engine/limits.ts';
import type { PlacedRoute, RouteChanges } from '../routes/route-table.ts';
import type { TenantLimits } from '../switchboard/route-book.ts';
import type { ProxyProtocol } from '../switchboard/trusted-sources.ts';

/** What a thread has to know from its start: its first message. */
export interface ThreadStart {
  readonly type: 'start';
  readonly index: number;
  readonly engine: EngineChoice;
  readonly listen: readonly ListenAddress[];
  readonly slots: number;
  /** The counters of every thread, its own at its index. */
  readonly counters: readonly SharedArrayBuffer[];
  readonly rates: SharedArrayBuffer;
  readonly limits: Partial<Limits>;
  readonly maxConnections: number;
  readonly tenantLimits: TenantLimits;
  readonly proxyProtocol: ProxyProtocol;
  readonly hasAccessLog: boolean;
  readonly routes: readonly PlacedRoute[];
  /** Of these routes. */
  readonly version: number;
  readonly masterKeys: readonly Uint8Array[];
}

/** From the main thread. */
export type ToThread =
  | ThreadStart
  | { readonly type: 'routes'; readonly version: number; readonly changes: RouteChanges }
  | { readonly type: 'keys'; readonly masterKeys: readonly Uint8Array[] }
  | { readonly type: 'stop-accepting' }
  | { readonly type: 'close-oldest'; readonly count: number }
  | { readonly type: 'stop' };

/** To the main thread. */
export type FromThread =
  | {
      readonly type: 'listening';
      /** The addresses with the ports that the system chose; fewer than asked for, if there is no IPv6. */
      readonly addresses: readonly ListenAddress[];
      /** Why there are fewer, a sentence for each. */
      readonly skipped: readonly string[];
      readonly engine: string;
      readonly fallbackReason: string | undefined;
    }
  | { readonly type: 'cannot-start'; readonly sentence: string }
  /** Nothing of the thread is left but the thread: end it. With a sentence if that was nobody's wish. */
  | { readonly type: 'stopped'; readonly sentence?: string }
  | { readonly type: 'applied'; readonly version: number }
  /** The thread goes on with the keys that it had. */
  | { readonly type: 'keys-refused'; readonly sentence: string }
  | { readonly type: 'fault'; readonly sentence: string; readonly stack: string | undefined }
  | { readonly type: 'access-log'; readonly lines: string; readonly count: number };
