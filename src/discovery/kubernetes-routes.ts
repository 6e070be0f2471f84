/**
 * The routes of a gateway from a management cluster. It watches TenantRoutes and the EndpointSlices of their Services,
 * and a change updates only the routes that depend on it. While the API server is unreachable, the last routes stay
 * active. With a state file they also survive a restart.
 */
import type { TenantRoute } from '../api/tenant-route.ts';
import { systemClock, type Clock } from '../clock/clock.ts';
import {
  initialLoadState,
  RETRY_MS,
  waitingMessage,
  type LoadState,
  type RouteCounts,
  type RoutesFeed,
  type RoutesSink,
  type RouteUpdate,
} from '../gateway/routes/routes-feed.ts';
import { TooManyRoutes } from '../gateway/routes/route-table.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { Informer } from '../kube/informer/informer.ts';
import { RESOURCES } from '../kube/resource.ts';
import { SERVICE_NAME_LABEL } from '../kube/endpoints/endpoint-slice.ts';
import { trimEndpointSlice, serviceKey, trimTenantRoute } from './trim-objects.ts';
import { RouteSet } from './route-set.ts';
import { readRoutesState, writeRoutesState } from './routes-state.ts';
import type { EndpointSlice } from './tenant-routes.ts';

/** Options of {@link KubernetesRoutes}. */
export interface KubernetesRoutesOptions {
  readonly client: KubeClient;
  /** Serves only the routes of this Edge. Default: every Edge with driver `snicket`. */
  readonly edge?: string | undefined;
  /** File for the last routes. Default: none. */
  readonly statePath?: string | undefined;
  /**
   * How long a start without a state file waits for the API server before it continues without routes. Default 10,000.
   */
  readonly startTimeoutMs?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Rollouts cause bursts of changes. All changes within this time after the first are applied together. */
const DEBOUNCE_MS = 20;
/** Each write of the state file contains all routes. Writes take at most 1/WRITE_SHARE of the time. */
const WRITE_SHARE = 10;

/** Watches the routes in a management cluster. */
export class KubernetesRoutes implements RoutesFeed {
  readonly #options: KubernetesRoutesOptions;
  readonly #sink: RoutesSink;
  readonly #stopped = new AbortController();
  readonly #tenantRoutes: Informer<TenantRoute>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #routes: RouteSet;
  readonly #state: LoadState = initialLoadState();
  readonly #clock: Clock;
  #stopUpdateTimer: (() => void) | undefined;
  /** Why the current routes of the cluster are not active, as a sentence, and how often that occurred. */
  #problem: string | undefined;
  #failures = 0;
  /** Set to the error message if there are more routes than slots. */
  #overflow: string | undefined;
  #stopRetries: (() => void) | undefined;
  /** Whether the gateway has applied the last update, so that the next update can be incremental. */
  #isCurrent = false;
  /** Last logged error of the state file, to log each error once. */
  #stateFileError: string | undefined;
  #mayWriteAtMs = 0;
  #stopWriting: (() => void) | undefined;

  constructor(options: KubernetesRoutesOptions, sink: RoutesSink) {
    this.#options = options;
    this.#sink = sink;
    const { client, clock = systemClock } = options;
    this.#clock = clock;
    this.#tenantRoutes = new Informer<TenantRoute>({
      client,
      clock,
      resource: RESOURCES.tenantRoute,
      trim: trimTenantRoute,
    });
    this.#slices = new Informer<EndpointSlice>({
      client,
      clock,
      resource: RESOURCES.endpointSlice,
      // Slices of headless Services and slices that users manage have the label too. A slice without it belongs to
      // no Service.
      selection: { labelSelector: SERVICE_NAME_LABEL },
      trim: trimEndpointSlice,
      indexes: { service: (slice) => [serviceKey(slice)] },
    });
    this.#routes = new RouteSet({
      slicesOf: (namespace, service) => this.#slices.byIndex('service', `${namespace}/${service}`),
      edge: options.edge,
      maxLimits: sink.tenantLimits,
    });
  }

  get state(): LoadState {
    const failing = [this.#tenantRoutes, this.#slices].find(({ state }) => !state.isConnected);
    const { lastError } = failing?.state ?? {};
    const areRoutesActive = this.#state.loads > 0 && this.#problem === undefined;
    this.#state.isCurrent = areRoutesActive && failing === undefined;
    this.#state.problem =
      failing === undefined
        ? this.#problem
        : `the API server at ${this.#options.client.server} cannot be watched: ${lastError?.message ?? 'no answer yet'}`;
    this.#state.failures =
      this.#tenantRoutes.state.failures + this.#slices.state.failures + this.#failures;
    return this.#state;
  }

  async start(): Promise<void> {
    const hasState = await this.#loadState();
    const { signal } = this.#stopped;
    this.#tenantRoutes.onChange(({ type, object }) => {
      if (type === 'DELETED') this.#routes.remove(object);
      else this.#routes.put(object);
      this.#scheduleUpdate();
    });
    this.#slices.onChange((change) => {
      this.#routes.slicesChanged(serviceKey(change.object));
      if (change.type === 'MODIFIED') this.#routes.slicesChanged(serviceKey(change.previous));
      this.#scheduleUpdate();
    });
    void this.#tenantRoutes.run(signal);
    void this.#slices.run(signal);
    const synced = Promise.all([
      this.#tenantRoutes.synced(signal),
      this.#slices.synced(signal),
    ]).then(() => this.#applyRoutes());
    synced.catch(() => {}); // stopped before the first sync
    if (hasState) return;
    const startTimeout = this.#clock.timeoutSignal(this.#options.startTimeoutMs ?? 10_000);
    await Promise.race([synced, aborted(startTimeout)]);
    if (this.#state.loads > 0) return;
    this.#sink.log.warn('starting without routes', {
      problem: this.state.problem,
    });
  }

  stop(): void {
    this.#stopped.abort();
    this.#stopUpdateTimer?.();
    this.#recover();
    if (this.#stopWriting !== undefined) this.#writeState();
  }

  /** Loads the state file. Returns whether it has routes. */
  async #loadState(): Promise<boolean> {
    const { statePath } = this.#options;
    if (statePath === undefined) return false;
    try {
      const routes = await readRoutesState(statePath);
      if (routes === undefined) return false;
      const { added } = this.#apply(() => this.#sink.onRoutes(routes));
      this.#sink.log.info('routes loaded from the state file', {
        file: statePath,
        routes: added,
      });
      return true;
    } catch (error) {
      this.#sink.log.error('state file unusable, waiting for the API server', {
        file: statePath,
        error,
      });
      return false;
    }
  }

  #scheduleUpdate(): void {
    if (!this.#tenantRoutes.hasSynced || !this.#slices.hasSynced) return;
    this.#stopUpdateTimer ??= this.#clock.after(DEBOUNCE_MS, () => this.#applyRoutes());
  }

  #applyRoutes(): void {
    this.#stopUpdateTimer?.();
    this.#stopUpdateTimer = undefined;
    const startMs = this.#clock.nowMs();
    const { log } = this.#sink;
    try {
      const update = this.#routes.update();
      for (const fault of update.newFaults) log.warn(fault);
      const isUpdate = this.#isCurrent;
      this.#isCurrent = false;
      const { waiting, ...counts } = this.#apply(() => this.#send(isUpdate ? update : undefined));
      this.#isCurrent = waiting === 0;
      if (waiting === 0) this.#recover();
      else this.#wait(waiting);
      this.#state.loadSeconds = (this.#clock.nowMs() - startMs) / 1000;
      if (counts.added + counts.changed + counts.removed === 0) return;
      log.info('routes updated', { routes: this.#routes.size - waiting, ...counts });
      this.#scheduleWrite();
    } catch (error) {
      this.#recover();
      this.#fail(error instanceof Error ? error.message : String(error));
      log.error('failed to apply routes, keeping the previous ones', { error });
    }
  }

  /**
   * Sends an update, or all routes. If there are more routes than slots, the first ones are served and the others wait.
   */
  #send(update: RouteUpdate | undefined): RouteCounts {
    this.#overflow = undefined;
    try {
      if (update !== undefined) return this.#sink.onUpdate(update);
      return this.#sink.onRoutes(this.#routes.list());
    } catch (error) {
      if (!(error instanceof TooManyRoutes)) throw error;
      this.#overflow = error.message;
      const all = this.#routes.list();
      const served = all.slice(0, error.slots);
      const counts = this.#sink.onRoutes(served);
      return { ...counts, waiting: counts.waiting + all.length - served.length };
    }
  }

  /** Retries until all routes are active, because slots become free without an event from the cluster. */
  #wait(waiting: number): void {
    const sentence = this.#overflow ?? waitingMessage(waiting);
    if (this.#stopRetries !== undefined) {
      this.#problem = sentence; // already logged, with another number
      return;
    }
    this.#fail(sentence);
    this.#sink.log.error(sentence);
    this.#stopRetries = this.#clock.every(RETRY_MS, () => this.#applyRoutes());
  }

  #fail(sentence: string): void {
    this.#problem = sentence;
    this.#failures++;
  }

  #recover(): void {
    this.#problem = undefined;
    this.#stopRetries?.();
    this.#stopRetries = undefined;
  }

  #apply(change: () => RouteCounts): RouteCounts {
    const counts = change();
    if (counts.waiting > 0) return counts;
    this.#state.loads++;
    this.#state.loadedAtSeconds = this.#clock.now().getTime() / 1000;
    return counts;
  }

  #scheduleWrite(): void {
    const waitMs = this.#mayWriteAtMs - this.#clock.nowMs();
    if (waitMs <= 0) this.#writeState();
    else this.#stopWriting ??= this.#clock.after(waitMs, () => this.#writeState());
  }

  #writeState(): void {
    this.#stopWriting?.();
    this.#stopWriting = undefined;
    const { statePath } = this.#options;
    if (statePath === undefined) return;
    const startMs = this.#clock.nowMs();
    try {
      writeRoutesState(statePath, this.#routes.list());
      this.#stateFileError = undefined;
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      if (sentence === this.#stateFileError) return; // already logged
      this.#stateFileError = sentence;
      this.#sink.log.error('failed to write the state file', { file: statePath, error });
    } finally {
      const endMs = this.#clock.nowMs();
      this.#mayWriteAtMs = endMs + (WRITE_SHARE - 1) * (endMs - startMs);
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
