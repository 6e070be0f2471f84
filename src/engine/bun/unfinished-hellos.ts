/**
 * Connections whose first bytes are not complete, oldest first, with a limit overall and for each address.
 *
 * No source can be over its limit while all together are not. So addresses are looked at only from then on: in quiet
 * times none is read and no map is kept, and under a flood the counts are exact.
 */
import { GLOBAL, type Counters } from '../counters.ts';
import type { Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import type { ClientSide } from './side.ts';

/** Who has not finished its hello. */
export class UnfinishedHellos {
  readonly #limits: Limits;
  readonly #counters: Counters;
  readonly #clients = new Set<ClientSide>();
  readonly #bySource = new Map<string, number>();
  #countsSources = false;

  constructor(limits: Limits, counters: Counters) {
    this.#limits = limits;
    this.#counters = counters;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Takes one more in, or says by which reason not. */
  admit(client: ClientSide): number | undefined {
    if (this.#clients.size >= this.#limits.maxUnfinishedHellos) return REASON.hellos_limit;
    if (this.#clients.size >= this.#limits.maxUnfinishedHellosPerSource) this.#countSources();
    if (this.#countsSources && !this.#countSource(client)) return REASON.source_limit;
    this.#clients.add(client);
    this.#counters.add(GLOBAL.unfinishedHellos, 1);
    return undefined;
  }

  /** It has finished, or it is gone. */
  delete(client: ClientSide): void {
    if (!this.#clients.delete(client)) return;
    this.#counters.add(GLOBAL.unfinishedHellos, -1);
    if (client.source !== null) this.#uncountSource(client, client.source);
    if (!this.#countsSources) return;
    if (this.#clients.size < this.#limits.maxUnfinishedHellosPerSource / 2) this.#forgetSources();
  }

  [Symbol.iterator](): IterableIterator<ClientSide> {
    return this.#clients.values();
  }

  #countSources(): void {
    if (this.#countsSources) return;
    this.#countsSources = true;
    for (const client of this.#clients) this.#countSource(client);
  }

  #countSource(client: ClientSide): boolean {
    const source = client.remoteAddress;
    const count = this.#bySource.get(source) ?? 0;
    if (count >= this.#limits.maxUnfinishedHellosPerSource) return false;
    this.#bySource.set(source, count + 1);
    client.source = source;
    return true;
  }

  #uncountSource(client: ClientSide, source: string): void {
    client.source = null;
    const count = this.#bySource.get(source) ?? 0;
    if (count > 1) this.#bySource.set(source, count - 1);
    else this.#bySource.delete(source);
  }

  #forgetSources(): void {
    this.#countsSources = false;
    this.#bySource.clear();
    for (const client of this.#clients) client.source = null;
  }
}
