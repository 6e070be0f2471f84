/**
 * Keeps this proxy in the slice `default/kubernetes`, round by round, until it is to end. What cannot be done is said when
 * it begins and when it is over, and leaves all as it is: the last good list serves through any outage of the API.
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
  joined,
  KUBERNETES,
  left,
  otherWriter,
  type Place,
  type SliceStep,
} from './kubernetes-slice.ts';
import { ProxyLeases } from './proxy-leases.ts';

/** Options of {@link SliceKeeper}. */
export interface SliceKeeperOptions {
  /** A client with the credentials of this moment; asked for another when the server is not who it should be. */
  readonly connect: () => KubeClient;
  /** The address of this node. Asked until it is known. */
  readonly address: (signal: AbortSignal) => Promise<string>;
  readonly port: number;
  readonly serviceName: string;
  readonly identity: string;
  readonly roundMs: number;
  /** Whether pods can be served: a proxy that never could does not join. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  /** Default: the date of the machine. */
  readonly now?: (() => Date) | undefined;
  readonly log: Logger;
}

/** How often another writer is named. */
const NAME_WRITER_EVERY_MS = 60_000;
/** How soon a proxy that becomes ready is seen to be. */
const LOOK_EVERY_MS = 250;
/** Writers that meet look again; with two proxies one more look is enough. */
const MAX_ATTEMPTS = 5;

type Decide = typeof joined;

/** One proxy's part in the slice. */
export class SliceKeeper {
  readonly #options: SliceKeeperOptions;
  readonly #leases: ProxyLeases;
  #client: KubeClient;
  #place: Place | undefined;
  #hasJoined = false;
  /** What is wrong, by its code; absent if nothing is. */
  #trouble: string | undefined;
  #namedWriterAtMs = Number.NEGATIVE_INFINITY;

  /** For metrics. */
  readonly counts = { rounds: 0, failures: 0, overwrites: 0, endpoints: 0 };

  constructor(options: SliceKeeperOptions) {
    const { serviceName, identity, clock, now = () => new Date() } = options;
    this.#options = options;
    this.#client = options.connect();
    const client = (): KubeClient => this.#client;
    this.#leases = new ProxyLeases({ client, serviceName, identity, clock, now });
  }

  /** Whether this proxy was in the slice at the last look. */
  get isJoined(): boolean {
    return this.#hasJoined && this.#trouble === undefined;
  }

  /** Round after round, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, isReady, roundMs } = this.#options;
    while (!signal.aborted && !isReady()) await delay(clock, LOOK_EVERY_MS, signal);
    while (!signal.aborted) {
      await this.#attempt(signal);
      await delay(clock, roundMs, signal);
    }
  }

  /** Takes our entry out, for those who are still there to take over; says so if it has to stay. */
  async leave(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const place = this.#place;
    if (place === undefined || !this.#hasJoined) return;
    try {
      if (!(await this.#leases.isOurs(place.address, signal))) {
        log.info('the next proxy of this node is there already, so its entry stays', { ...place });
        return;
      }
      const step = await this.#settle(left, place, signal);
      if (step.kind === 'blocked') {
        log.info(step.sentence, { code: step.code });
        return;
      }
      await this.#leases.release(place.address, signal);
      log.info('left the slice default/kubernetes', { ...place });
    } catch (error) {
      const sentence = 'the entry of this proxy could not be taken out: the others will, in time';
      log.warn(sentence, { ...place, error });
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    try {
      const step = await this.#round(signal);
      if (step.kind !== 'blocked') this.#fine();
      else this.#complain(step.code, step.sentence);
    } catch (error) {
      if (signal.aborted) return;
      this.counts.failures++;
      this.#leases.forget();
      // The CA may have been replaced since the client was made.
      if (isKubeError(error, 'Untrusted')) this.#client = this.#options.connect();
      const code = isKubeError(error) ? error.reason : 'Failed';
      const why = error instanceof Error ? error.message : String(error);
      this.#complain(code, `the slice default/kubernetes stays as it is: ${why}`);
    } finally {
      this.counts.rounds++;
    }
  }

  async #round(signal: AbortSignal): Promise<SliceStep> {
    const { address, port } = this.#options;
    this.#place ??= { address: await address(signal), port };
    await this.#leases.renew(this.#place.address, signal);
    const step = await this.#settle(joined, this.#place, signal);
    if (step.kind !== 'blocked') this.#hasJoined = true;
    return step;
  }

  /** Looks, decides and writes, again if somebody wrote in between. */
  async #settle(decide: Decide, place: Place, signal: AbortSignal): Promise<SliceStep> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#client.get<EndpointSlice>(RESOURCES.endpointSlice, KUBERNETES, {
        signal,
      });
      const addresses = addressesIn(found);
      const others = addresses.filter(
        (one) => one !== place.address && familyOf(one) !== undefined,
      );
      const alive = await this.#leases.alive(others, signal);
      const step = decide(found, place, (one) => alive.has(one));
      if (step.kind !== 'create' && step.kind !== 'replace') {
        this.counts.endpoints = addresses.length;
        return step;
      }
      try {
        await this.#write(step, signal);
      } catch (error) {
        const isLate = isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound');
        if (isLate && attempt < MAX_ATTEMPTS) continue;
        throw error;
      }
      this.#tell(found, step.slice, place);
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

  #tell(before: EndpointSlice | undefined, after: EndpointSlice, place: Place): void {
    const { log } = this.#options;
    const [was, is] = [addressesIn(before), addressesIn(after)];
    this.counts.endpoints = is.length;
    const writer = before && otherWriter(before);
    if (writer !== undefined && this.#hasJoined) this.#overwritten(writer, was);
    const joins = !was.includes(place.address) && is.includes(place.address);
    const dropped = was.filter((one) => one !== place.address && !is.includes(one));
    if (joins) log.info('joined the slice default/kubernetes', { ...place, endpoints: is });
    if (dropped.length > 0) {
      log.info('took entries without a living proxy out of the slice', { dropped, endpoints: is });
    }
  }

  /** Somebody writes what we write, and neither gives in: only a person can end that. */
  #overwritten(writer: string, endpoints: readonly string[]): void {
    const { clock, log } = this.#options;
    this.counts.overwrites++;
    if (clock.nowMs() < this.#namedWriterAtMs + NAME_WRITER_EVERY_MS) return;
    this.#namedWriterAtMs = clock.nowMs();
    log.warn(
      `OtherWriter: ${writer} has overwritten the slice default/kubernetes, which was put right; end that writer (an API server by --endpoint-reconciler-type=none), or this proxy`,
      { code: 'OtherWriter', writer, endpoints, times: this.counts.overwrites },
    );
  }

  #complain(code: string, sentence: string): void {
    if (this.#trouble === code) return;
    this.#trouble = code;
    this.#options.log.warn(`${code}: ${sentence}`, { code });
  }

  #fine(): void {
    if (this.#trouble === undefined) return;
    this.#options.log.info('the slice default/kubernetes can be kept again', {
      was: this.#trouble,
    });
    this.#trouble = undefined;
  }
}
