/**
 * The routes of a gateway from a management cluster: its Exposures and the EndpointSlices of their Services, by watch.
 * Without the API server nothing changes: the last routes stay in force, over a restart too if there is a state file.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import {
  nothingLoaded,
  RETRY_MS,
  waitingSentence,
  type LoadState,
  type RouteCounts,
  type RoutesFeed,
  type RoutesSink,
} from '../gateway/routes/routes-feed.ts';
import type { Route } from '../gateway/routes/route.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { Informer } from '../kube/informer/informer.ts';
import { RESOURCES } from '../kube/resource.ts';
import { SERVICE_NAME_LABEL } from '../kube/endpoints/endpoint-slice.ts';
import { exposureRoutes, type EndpointSlice, type RoutedExposure } from './exposure-routes.ts';
import { endpointPart, routedPart, serviceKey } from './kept-parts.ts';
import { readRoutesState, writeRoutesState } from './routes-state.ts';

/** Options of {@link KubernetesRoutes}. */
export interface KubernetesRoutesOptions {
  readonly client: KubeClient;
  /** Routes of this Edge only. Default: of every Edge whose driver is `snicket`. */
  readonly edge?: string | undefined;
  /** Where to keep the last routes. Default: nowhere. */
  readonly statePath?: string | undefined;
  /** How long a start without a state file waits for the API server before it goes on without routes. Default 10,000. */
  readonly patienceMs?: number | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** Changes of a rollout come in bursts: they are put in force together, this long after the first. */
const GATHER_MS = 20;

/** Watches a management cluster. */
export class KubernetesRoutes implements RoutesFeed {
  readonly #options: KubernetesRoutesOptions;
  readonly #sink: RoutesSink;
  readonly #stopped = new AbortController();
  readonly #exposures: Informer<RoutedExposure>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #state: LoadState = nothingLoaded();
  readonly #clock: Clock;
  #stopGathering: (() => void) | undefined;
  /** Why the routes of the cluster are not those in force, as a sentence, and how often that began. */
  #refusal: string | undefined;
  #refusals = 0;
  #stopRetrying: (() => void) | undefined;
  #faults = new Set<string>();
  #kept: string | undefined;

  constructor(options: KubernetesRoutesOptions, sink: RoutesSink) {
    this.#options = options;
    this.#sink = sink;
    const { client, clock = systemClock } = options;
    this.#clock = clock;
    this.#exposures = new Informer<RoutedExposure>({
      client,
      clock,
      resource: RESOURCES.exposure,
      trim: routedPart,
    });
    this.#slices = new Informer<EndpointSlice>({
      client,
      clock,
      resource: RESOURCES.endpointSlice,
      // Those that somebody keeps by hand or for a headless Service have the label too; without it there is no Service.
      selection: { labelSelector: SERVICE_NAME_LABEL },
      trim: endpointPart,
      indexes: { service: (slice) => [serviceKey(slice)] },
    });
  }

  get state(): LoadState {
    const failing = [this.#exposures, this.#slices].find(({ state }) => !state.isConnected);
    const { lastError } = failing?.state ?? {};
    const isInForce = this.#state.loads > 0 && this.#refusal === undefined;
    this.#state.isGood = isInForce && failing === undefined;
    this.#state.problem =
      failing === undefined
        ? this.#refusal
        : `the API server at ${this.#options.client.server} cannot be watched: ${lastError?.message ?? 'no answer yet'}`;
    this.#state.failures =
      this.#exposures.state.failures + this.#slices.state.failures + this.#refusals;
    return this.#state;
  }

  async start(): Promise<void> {
    const hasState = await this.#beginWithState();
    const { signal } = this.#stopped;
    for (const informer of [this.#exposures, this.#slices]) {
      informer.onChange(() => this.#gather());
      void informer.run(signal);
    }
    const synced = Promise.all([this.#exposures.synced(signal), this.#slices.synced(signal)]).then(
      () => this.#putInForce(),
    );
    synced.catch(() => {}); // stopped before there was an answer
    if (hasState) return;
    const patience = this.#clock.timeoutSignal(this.#options.patienceMs ?? 10_000);
    await Promise.race([synced, aborted(patience)]);
    if (this.#state.loads > 0) return;
    this.#sink.log.warn('no routes yet, and no state file to begin with', {
      problem: this.state.problem,
    });
  }

  stop(): void {
    this.#stopped.abort();
    this.#stopGathering?.();
    this.#recover();
  }

  /** Whether there are routes from before. */
  async #beginWithState(): Promise<boolean> {
    const { statePath } = this.#options;
    if (statePath === undefined) return false;
    try {
      const routes = await readRoutesState(statePath);
      if (routes === undefined) return false;
      const { added } = this.#take(routes);
      this.#sink.log.info('routes in force, as they were before the restart', {
        file: statePath,
        routes: added,
      });
      return true;
    } catch (error) {
      this.#sink.log.error('the state file is of no use; waiting for the API server instead', {
        file: statePath,
        error,
      });
      return false;
    }
  }

  #gather(): void {
    if (!this.#exposures.hasSynced || !this.#slices.hasSynced) return;
    this.#stopGathering ??= this.#clock.after(GATHER_MS, () => this.#putInForce());
  }

  #putInForce(): void {
    this.#stopGathering?.();
    this.#stopGathering = undefined;
    const startMs = this.#clock.nowMs();
    const { log } = this.#sink;
    try {
      const { routes, faults } = exposureRoutes({
        exposures: this.#exposures.list(),
        slicesOf: (namespace, service) =>
          this.#slices.byIndex('service', `${namespace}/${service}`),
        edge: this.#options.edge,
      });
      this.#tell(faults);
      const { waiting, ...counts } = this.#take(routes);
      if (waiting === 0) this.#recover();
      else this.#wait(waiting);
      this.#state.loadSeconds = (this.#clock.nowMs() - startMs) / 1000;
      if (counts.added + counts.changed + counts.removed === 0) return;
      log.info('routes in force', { routes: routes.length - waiting, ...counts });
      this.#keep(routes);
    } catch (error) {
      this.#recover();
      this.#refuse(error instanceof Error ? error.message : String(error));
      log.error('new routes cannot be put in force; the last ones stay', { error });
    }
  }

  /** Room comes without a word from the cluster: so they are tried again until all fit. */
  #wait(waiting: number): void {
    const sentence = waitingSentence(waiting);
    if (this.#stopRetrying !== undefined) {
      this.#refusal = sentence; // the log has had it, with another number
      return;
    }
    this.#refuse(sentence);
    this.#sink.log.error(sentence);
    this.#stopRetrying = this.#clock.every(RETRY_MS, () => this.#putInForce());
  }

  #refuse(sentence: string): void {
    this.#refusal = sentence;
    this.#refusals++;
  }

  #recover(): void {
    this.#refusal = undefined;
    this.#stopRetrying?.();
    this.#stopRetrying = undefined;
  }

  #take(routes: readonly Route[]): RouteCounts {
    const counts = this.#sink.onRoutes(routes);
    if (counts.waiting > 0) return counts;
    this.#state.loads++;
    this.#state.loadedAtSeconds = this.#clock.now().getTime() / 1000;
    return counts;
  }

  /** Each fault once, as long as it lasts. */
  #tell(faults: readonly string[]): void {
    for (const fault of faults) if (!this.#faults.has(fault)) this.#sink.log.warn(fault);
    this.#faults = new Set(faults);
  }

  #keep(routes: readonly Route[]): void {
    const { statePath } = this.#options;
    if (statePath === undefined) return;
    try {
      writeRoutesState(statePath, routes);
      this.#kept = undefined;
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      if (sentence === this.#kept) return; // said before
      this.#kept = sentence;
      this.#sink.log.error('the routes cannot be kept for a restart', { file: statePath, error });
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
