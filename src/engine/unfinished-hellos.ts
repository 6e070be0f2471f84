/**
 * Connections whose first bytes are not complete, oldest first, with a limit overall and for each address.
 *
 * No source can be over its limit while all together are not. So addresses are looked at only from then on: in quiet
 * times none is read and no map is kept, and under a flood the counts are exact.
 */
import { ipBytes } from '../wire/ip-address.ts';
import { GLOBAL, type Counters } from './counters.ts';
import type { Limits } from './limits.ts';
import { REASON } from './reasons.ts';

/** As much of a Set as is needed here. */
interface ClientSet<Client> extends Iterable<Client> {
  readonly size: number;
  add(client: Client): unknown;
  delete(client: Client): boolean;
}

/** What {@link UnfinishedHellos} needs to know. */
export interface UnfinishedHellosOptions<Client> {
  readonly limits: Limits;
  readonly counters: Counters;
  readonly addressOf: (client: Client) => string;
  /** See {@link Switchboard.standsForMany}. */
  readonly standsForMany: (address: string) => boolean;
}

/** Who has not finished its hello. A client is whatever an engine knows it by. */
export class UnfinishedHellos<Client> {
  readonly #limits: Limits;
  readonly #counters: Counters;
  readonly #addressOf: (client: Client) => string;
  readonly #standsForMany: (address: string) => boolean;
  readonly #clients: ClientSet<Client>;
  /** Under a flood: under which address each is counted, and how many there are of each. */
  readonly #sources = new Map<Client, string>();
  readonly #bySource = new Map<string, number>();
  #countsSources = false;

  /** `clients` is where they are kept, in the order of their arrival. Default: a Set. */
  constructor(options: UnfinishedHellosOptions<Client>, clients: ClientSet<Client> = new Set()) {
    this.#clients = clients;
    this.#limits = options.limits;
    this.#counters = options.counters;
    this.#addressOf = options.addressOf;
    this.#standsForMany = options.standsForMany;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Takes one more in, or says by which reason not. */
  admit(client: Client): number | undefined {
    if (this.#clients.size >= this.#limits.maxUnfinishedHellos) return REASON.hellos_limit;
    if (this.#clients.size >= this.#limits.maxUnfinishedHellosPerSource) this.#countSources();
    if (this.#countsSources && !this.#countSource(client)) return REASON.source_limit;
    this.#clients.add(client);
    this.#counters.add(GLOBAL.unfinishedHellos, 1);
    return undefined;
  }

  /** It has finished, or it is gone. */
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
    if (this.#standsForMany(address)) return true;
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

/** Of IPv6 the network: whoever has one address there has 2^64 of them. */
function sourceOf(address: string): string {
  const bytes = ipBytes(address);
  return bytes?.length === 16 ? Buffer.from(bytes.subarray(0, 8)).toString('hex') : address;
}
