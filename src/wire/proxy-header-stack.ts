/**
 * PROXY headers in a row: that of a load balancer in front of the gateway, then that of one of our proxies.
 */
import { uint8 } from './bytes.ts';
import type { ProxyRefusal } from './outcome.ts';
import {
  PROXY_FIRST_BYTE,
  PROXY_LIMIT_BYTES,
  ProxyHeader,
  VERSION_1_FIRST_BYTE,
} from './proxy-header.ts';

/** Options of {@link ProxyHeaderStack}. */
export interface ProxyHeaderStackOptions {
  /** How many headers there may be. */
  readonly depth: number;
  /** The most that each may have. Default {@link PROXY_LIMIT_BYTES}. */
  readonly limitBytes?: number;
}

/** A reader for as many headers as are allowed, used again and again like {@link ProxyHeader}. */
export class ProxyHeaderStack {
  /** After `headers`: how many there are, none included. */
  count = 0;
  /** Where the last one ends, which is where the hello starts. */
  end = 0;

  readonly #headers: readonly ProxyHeader[];

  constructor({ depth, limitBytes = PROXY_LIMIT_BYTES }: ProxyHeaderStackOptions) {
    this.#headers = Array.from({ length: depth }, () => new ProxyHeader(limitBytes));
  }

  /** One of the headers that were read, the outermost being 0. */
  at(index: number): ProxyHeader | undefined {
    return index < this.count ? this.#headers[index] : undefined;
  }

  /**
   * Reads headers up to the first byte that begins none. That byte has to be there: without it nobody knows whether
   * another header follows.
   */
  read(bytes: Buffer, end: number, start = 0): 'headers' | 'incomplete' | ProxyRefusal {
    this.count = 0;
    this.end = start;
    for (;;) {
      if (this.end >= end) return 'incomplete';
      const first = uint8(bytes, this.end);
      // Version 1 begins with a P, and nothing else that is expected here does: its refusal names the mistake.
      const isVersion1 = this.count === 0 && first === VERSION_1_FIRST_BYTE;
      if (first !== PROXY_FIRST_BYTE && !isVersion1) return 'headers';
      const header = this.#headers[this.count];
      if (header === undefined) return 'proxy_headers_too_many';
      const outcome = header.read(bytes, end, this.end);
      if (outcome !== 'header') return outcome;
      this.count++;
      this.end = header.end;
    }
  }
}
