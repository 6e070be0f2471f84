/** Reads consecutive PROXY headers: that of a load balancer in front of the gateway, then that of a Snicket proxy. */
import { uint8 } from './bytes.ts';
import type { ProxyRefusal } from './outcome.ts';
import {
  PROXY_FIRST_BYTE,
  PROXY_LIMIT_BYTES,
  ProxyHeader,
  VERSION_1_FIRST_BYTE,
} from './proxy-header.ts';

interface ProxyHeaderStackOptions {
  /** Maximum number of headers. */
  readonly depth: number;
  /** Maximum length of each header. Default {@link PROXY_LIMIT_BYTES}. */
  readonly limitBytes?: number;
}

/** A reader of up to `depth` headers, reused like {@link ProxyHeader}. */
export class ProxyHeaderStack {
  /** After `headers`: the number of headers, possibly 0. */
  count = 0;
  /** The offset after the last header, where the hello starts. */
  end = 0;

  readonly #headers: readonly ProxyHeader[];

  constructor({ depth, limitBytes = PROXY_LIMIT_BYTES }: ProxyHeaderStackOptions) {
    this.#headers = Array.from({ length: depth }, () => new ProxyHeader(limitBytes));
  }

  /** Returns one of the headers that were read. Index 0 is the outermost. */
  at(index: number): ProxyHeader | undefined {
    return index < this.count ? this.#headers[index] : undefined;
  }

  /**
   * Reads headers up to the first byte that does not begin one. That byte must have arrived: without it, another header
   * may follow.
   */
  read(bytes: Buffer, end: number, start = 0): 'headers' | 'incomplete' | ProxyRefusal {
    this.count = 0;
    this.end = start;
    for (;;) {
      if (this.end >= end) return 'incomplete';
      const first = uint8(bytes, this.end);
      // Only a version 1 header begins with a P here. Reading it returns a specific refusal.
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
