/**
 * Keeps the addresses of the edge up to date. The proxy starts before cluster DNS, perhaps before any DNS: a name that
 * is not found is asked for again, and never the end of the program.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import type { EdgeEndpoints } from './edge-endpoints.ts';
import { ipVersion } from '../../wire/ip-address.ts';

/** All addresses of a name. @throws the resolver's error, with its `code`. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** How often a name is looked up while all is well. */
export const RESOLVE_MS = 30_000;

/** The least time between two questions, whatever goes wrong. */
const RETRY_MS = 2000;

/** Options of {@link EdgeResolver}. */
export interface EdgeResolverOptions {
  readonly edge: EdgeAddress;
  readonly endpoints: EdgeEndpoints;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: the resolver of the system, which knows the host aliases of a pod. */
  readonly lookup?: Lookup | undefined;
}

/** Looks up one name, again and again. */
export class EdgeResolver {
  readonly #options: EdgeResolverOptions;
  readonly #lookup: Lookup;
  #stopTick: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #askedMs = -Infinity;
  #isStale = true;
  #failure: string | undefined;

  constructor(options: EdgeResolverOptions) {
    this.#options = options;
    this.#lookup = options.lookup ?? systemLookup;
  }

  /** Why there is no answer at the moment, as a sentence. The last good addresses stay in use. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Looks up for the first time, and then again and again. Done after the first time. */
  async start(): Promise<void> {
    const { edge, endpoints, clock } = this.#options;
    if (ipVersion(edge.host) !== 0) {
      endpoints.replace([edge.host], edge.port);
      return;
    }
    this.#stopTick = clock.every(RETRY_MS / 2, () => this.#tick());
    await this.#ask();
  }

  /** The addresses do not answer: perhaps there are new ones. */
  suspect(): void {
    this.#isStale = true;
  }

  stop(): void {
    this.#stopTick?.();
  }

  #tick(): void {
    const ageMs = this.#options.clock.nowMs() - this.#askedMs;
    if (ageMs >= (this.#isStale ? RETRY_MS : RESOLVE_MS)) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#askedMs = this.#options.clock.nowMs();
    this.#asking ??= this.#resolve().finally(() => (this.#asking = undefined));
    await this.#asking;
  }

  async #resolve(): Promise<void> {
    const { edge, endpoints, log } = this.#options;
    try {
      const addresses = [...new Set(await this.#lookup(edge.host))].toSorted();
      if (addresses.length === 0) throw new Error('the name has no address');
      const before = endpoints.all().map(({ address }) => address);
      endpoints.replace(addresses, edge.port);
      if (before.join() !== addresses.join()) {
        log.info('the edge has addresses', { edge: edge.host, addresses });
      }
      this.#failure = undefined;
      this.#isStale = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Logged when it begins; the metrics say how long it goes on. */
  #fail(error: unknown): void {
    const { edge, endpoints, log } = this.#options;
    this.#isStale = true;
    const why = error instanceof Error ? error.message : String(error);
    const remaining =
      endpoints.size === 0 ? 'there is none to dial yet' : 'the last good ones stay in use';
    const sentence = `the addresses of ${edge.host} cannot be looked up (${why}); ${remaining}`;
    if (this.#failure !== sentence) log.warn(sentence, { edge: edge.host });
    this.#failure = sentence;
  }
}

/** By libc, so that /etc/hosts and thus hostAliases count: the edge has to be found before cluster DNS works. */
async function systemLookup(host: string): Promise<readonly string[]> {
  const answers = await Bun.dns.lookup(host, { backend: 'libc' });
  return answers.map(({ address }) => address);
}
