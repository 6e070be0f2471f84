/**
 * Keeps the entry of this proxy in the slice `default/kubernetes` until the proxy ends. It logs when a problem begins
 * and when it ends. During a problem the slice stays unchanged, so the last valid list serves during an outage of the
 * API server.
 */
import type { Clock } from '../clock/clock.ts';
import { delay } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { Logger } from '../telemetry/log.ts';
import { familyOf } from '../kube/endpoints/endpoint-address.ts';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import {
  addressesIn,
  planJoin,
  KUBERNETES,
  planLeave,
  otherWriter,
  type ProxyEndpoint,
  type SliceStep,
} from './kubernetes-slice.ts';
import { ProxyLeases } from './proxy-leases.ts';

interface SliceReconcilerOptions {
  /** Creates a client with the current credentials. Called again if the server's certificate is not trusted. */
  readonly connect: () => KubeClient;
  /** Returns the address of this node. Called until it succeeds. */
  readonly address: (signal: AbortSignal) => Promise<string>;
  readonly port: number;
  readonly serviceName: string;
  readonly identity: string;
  readonly intervalMs: number;
  /** Whether the proxy can serve pods. A proxy that was never ready does not join the slice. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  /** Default: the system time. */
  readonly now?: (() => Date) | undefined;
  readonly log: Logger;
}

/** Minimum time between two warnings about another writer. */
const WRITER_WARNING_MS = 60_000;
/** How often to check whether the proxy has become ready. */
const READINESS_CHECK_MS = 250;
/** Conflicting writers retry. With two proxies one retry is enough. */
const MAX_ATTEMPTS = 5;

type Planner = typeof planJoin;

/** Maintains the entry of this proxy in the slice. */
export class SliceReconciler {
  readonly #options: SliceReconcilerOptions;
  readonly #leases: ProxyLeases;
  #client: KubeClient;
  #endpoint: ProxyEndpoint | undefined;
  #hasJoined = false;
  /** Code of the current problem, if any. */
  #problem: string | undefined;
  #writerWarnedMs = Number.NEGATIVE_INFINITY;

  /** Counts for metrics. */
  readonly counts = { reconciles: 0, failures: 0, overwrites: 0, endpoints: 0 };

  constructor(options: SliceReconcilerOptions) {
    const { serviceName, identity, clock, now = () => new Date() } = options;
    this.#options = options;
    this.#client = options.connect();
    const client = (): KubeClient => this.#client;
    this.#leases = new ProxyLeases({ client, serviceName, identity, clock, now });
  }

  /** Whether this proxy was in the slice at the last reconcile. */
  get isJoined(): boolean {
    return this.#hasJoined && this.#problem === undefined;
  }

  /** Reconciles until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, isReady, intervalMs } = this.#options;
    while (!signal.aborted && !isReady()) await delay(clock, READINESS_CHECK_MS, signal);
    while (!signal.aborted) {
      await this.#attempt(signal);
      await delay(clock, intervalMs, signal);
    }
  }

  /**
   * Removes the entry of this proxy, so that new connections go to other proxies. Logs the reason if the entry has to
   * stay.
   */
  async leave(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const endpoint = this.#endpoint;
    if (endpoint === undefined || !this.#hasJoined) return;
    try {
      if (!(await this.#leases.isHeldByThisProcess(endpoint.address, signal))) {
        log.info('the next proxy of this node has taken over, keeping the endpoint', {
          ...endpoint,
        });
        return;
      }
      const step = await this.#apply(planLeave, endpoint, signal);
      if (step.kind === 'blocked') {
        log.info(step.message, { code: step.code });
        return;
      }
      await this.#leases.release(endpoint.address, signal);
      log.info('endpoint removed from EndpointSlice default/kubernetes', { ...endpoint });
    } catch (error) {
      const message = 'cannot remove the endpoint; other proxies remove it once its Lease expires';
      log.warn(message, { ...endpoint, error });
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    try {
      const step = await this.#reconcile(signal);
      if (step.kind !== 'blocked') this.#reportRecovery();
      else this.#reportProblem(step.code, step.message);
    } catch (error) {
      if (signal.aborted) return;
      this.counts.failures++;
      this.#leases.forget();
      // The CA may have been rotated since the client was created.
      if (isKubeError(error, 'Untrusted')) this.#client = this.#options.connect();
      const code = isKubeError(error) ? error.reason : 'Failed';
      const reason = error instanceof Error ? error.message : String(error);
      this.#reportProblem(code, `EndpointSlice default/kubernetes stays unchanged: ${reason}`);
    } finally {
      this.counts.reconciles++;
    }
  }

  async #reconcile(signal: AbortSignal): Promise<SliceStep> {
    const { address, port } = this.#options;
    this.#endpoint ??= { address: await address(signal), port };
    await this.#leases.renew(this.#endpoint.address, signal);
    const step = await this.#apply(planJoin, this.#endpoint, signal);
    if (step.kind !== 'blocked') this.#hasJoined = true;
    return step;
  }

  /** Reads the slice, decides, and writes. Retries on a conflict. */
  async #apply(plan: Planner, endpoint: ProxyEndpoint, signal: AbortSignal): Promise<SliceStep> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#client.get<EndpointSlice>(RESOURCES.endpointSlice, KUBERNETES, {
        signal,
      });
      const addresses = addressesIn(found);
      const others = addresses.filter(
        (address) => address !== endpoint.address && familyOf(address) !== undefined,
      );
      const alive = await this.#leases.alive(others, signal);
      const step = plan(found, endpoint, (address) => alive.has(address));
      if (step.kind !== 'create' && step.kind !== 'replace') {
        this.counts.endpoints = addresses.length;
        return step;
      }
      try {
        await this.#write(step, signal);
      } catch (error) {
        const isConflict = isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound');
        if (isConflict && attempt < MAX_ATTEMPTS) continue;
        throw error;
      }
      this.#logChanges(found, step.slice, endpoint);
      return step;
    }
  }

  async #write(
    { kind, slice }: Extract<SliceStep, { readonly slice: unknown }>,
    signal: AbortSignal,
  ): Promise<void> {
    const options = { signal };
    await (kind === 'create'
      ? this.#client.create(RESOURCES.endpointSlice, slice, options)
      : this.#client.replace(RESOURCES.endpointSlice, slice, options));
  }

  #logChanges(
    before: EndpointSlice | undefined,
    after: EndpointSlice,
    endpoint: ProxyEndpoint,
  ): void {
    const { log } = this.#options;
    const [previous, current] = [addressesIn(before), addressesIn(after)];
    this.counts.endpoints = current.length;
    const writer = before && otherWriter(before);
    if (writer !== undefined && this.#hasJoined) this.#overwritten(writer, previous);
    const joins = !previous.includes(endpoint.address) && current.includes(endpoint.address);
    const dropped = previous.filter(
      (address) => address !== endpoint.address && !current.includes(address),
    );
    if (joins)
      log.info('endpoint added to EndpointSlice default/kubernetes', {
        ...endpoint,
        endpoints: current,
      });
    if (dropped.length > 0) {
      log.info('removed endpoints without a live proxy', { dropped, endpoints: current });
    }
  }

  /** Logs that another writer changes the same fields. Both keep writing until the user stops one of them. */
  #overwritten(writer: string, endpoints: readonly string[]): void {
    const { clock, log } = this.#options;
    this.counts.overwrites++;
    if (clock.nowMs() < this.#writerWarnedMs + WRITER_WARNING_MS) return;
    this.#writerWarnedMs = clock.nowMs();
    log.warn(
      `OtherWriter: ${writer} overwrote EndpointSlice default/kubernetes, which was restored; stop that writer (an API server: --endpoint-reconciler-type=none) or this proxy`,
      { code: 'OtherWriter', writer, endpoints, times: this.counts.overwrites },
    );
  }

  #reportProblem(code: string, message: string): void {
    if (this.#problem === code) return;
    this.#problem = code;
    this.#options.log.warn(`${code}: ${message}`, { code });
  }

  #reportRecovery(): void {
    if (this.#problem === undefined) return;
    this.#options.log.info('EndpointSlice default/kubernetes can be reconciled again', {
      was: this.#problem,
    });
    this.#problem = undefined;
  }
}
