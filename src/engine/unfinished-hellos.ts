/**
 * Connections whose first bytes are incomplete, oldest first, limited in total and per source address.
 *
 * While the total is below the limit per source, no source can exceed that limit. The engine therefore starts to count
 * per source when the total reaches it. In normal operation it does not read addresses. During a flood the counts are
 * exact.
 */
import { ipBytes } from '../wire/ip-address.ts';
import { GLOBAL, type Counters } from './counters.ts';
import type { Limits } from './limits.ts';
import { REASON } from './reasons.ts';

/** The subset of Set that is needed here. */
interface ClientSet<Client> extends Iterable<Client> {
  readonly size: number;
  add(client: Client): unknown;
  delete(client: Client): boolean;
}

interface UnfinishedHellosOptions<Client> {
  readonly limits: Limits;
  readonly counters: Counters;
  readonly addressOf: (client: Client) => string;
  /** See {@link Router.isSharedSource}. */
  readonly isSharedSource: (address: string) => boolean;
}

/** The clients with an unfinished hello. `Client` is the type by which the engine identifies a client. */
export class UnfinishedHellos<Client> {
  readonly #limits: Limits;
  readonly #counters: Counters;
  readonly #addressOf: (client: Client) => string;
  readonly #isSharedSource: (address: string) => boolean;
  readonly #clients: ClientSet<Client>;
  /** While sources are counted: the source of each client, and the number of clients per source. */
  readonly #sources = new Map<Client, string>();
  readonly #bySource = new Map<string, number>();
  #countsSources = false;

  /** `clients` stores the clients in order of arrival. Default: a Set. */
  constructor(options: UnfinishedHellosOptions<Client>, clients: ClientSet<Client> = new Set()) {
    this.#clients = clients;
    this.#limits = options.limits;
    this.#counters = options.counters;
    this.#addressOf = options.addressOf;
    this.#isSharedSource = options.isSharedSource;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Admits a client, or returns the reason to refuse it. */
  admit(client: Client): number | undefined {
    if (this.#clients.size >= this.#limits.maxUnfinishedHellos) return REASON.hellos_limit;
    if (this.#clients.size >= this.#limits.maxUnfinishedHellosPerSource) this.#countSources();
    if (this.#countsSources && !this.#countSource(client)) return REASON.source_limit;
    this.#clients.add(client);
    this.#counters.add(GLOBAL.unfinishedHellos, 1);
    return undefined;
  }

  /** Removes a client whose hello is complete or whose connection has ended. */
  delete(client: Client): void {
    if (!this.#clients.delete(client)) return;
    this.#counters.add(GLOBAL.unfinishedHellos, -1);
    if (!this.#countsSources) return;
    this.#uncountSource(client);
    if (this.#clients.size < this.#limits.maxUnfinishedHellosPerSource / 2) this.#forgetSources();
  }

  [Symbol.iterator](): Iterator<Client> {
    return this.#clients[Symbol.iterator]();
  }

  #countSources(): void {
    if (this.#countsSources) return;
    this.#countsSources = true;
    for (const client of this.#clients) this.#countSource(client);
  }

  #countSource(client: Client): boolean {
    const address = this.#addressOf(client);
    if (this.#isSharedSource(address)) return true;
    const source = sourceOf(address);
    const count = this.#bySource.get(source) ?? 0;
    if (count >= this.#limits.maxUnfinishedHellosPerSource) return false;
    this.#bySource.set(source, count + 1);
    this.#sources.set(client, source);
    return true;
  }

  #uncountSource(client: Client): void {
    const source = this.#sources.get(client);
    if (source === undefined) return;
    this.#sources.delete(client);
    const count = this.#bySource.get(source) ?? 0;
    if (count > 1) this.#bySource.set(source, count - 1);
    else this.#bySource.delete(source);
  }

  #forgetSources(): void {
    this.#countsSources = false;
    this.#bySource.clear();
    this.#sources.clear();
  }
}

/**
 * Returns the source under which an address counts. For IPv6 that is its /64 network, because a client there usually
 * has 2^64 addresses.
 */
function sourceOf(address: string): string {
  const bytes = ipBytes(address);
  return bytes?.length === 16 ? Buffer.from(bytes.subarray(0, 8)).toString('hex') : address;
}
