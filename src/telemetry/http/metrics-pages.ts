/**
 * The metrics as an HTTP response. With 20,000 routes it has tens of megabytes, and a client may read slowly. Therefore
 * requests for a large page within a second share the same bytes, and only a few such pages are in memory at a time.
 */
import type { Metrics } from '../metrics.ts';
import { encodeResponse, type EncodedResponse } from './response.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Pages of this size and more are shared. Smaller pages are generated per request and show the current values. */
const LARGE_PAGE_BYTES = 256 * 1024;

/** How long a large page is reused for new requests. */
export const LARGE_PAGE_MS = 1000;

/**
 * Maximum number of large pages in memory: the newest one, and older ones that still have readers. At the maximum, new
 * readers get the newest page even if it is old. The age is bounded by the timeout of a request.
 */
export const MAX_LARGE_PAGES = 3;

/** A page and the number of its readers. */
interface MetricsPage {
  readonly bytes: EncodedResponse;
  readonly createdMs: number;
  readers: number;
}

/** The pages of one {@link Metrics}. */
class MetricsPages {
  readonly #metrics: Metrics;
  /** The large pages in memory, the newest last. */
  #large: MetricsPage[] = [];

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Returns a page for one more reader. The reader calls {@link release}. @throws the error of a metric. */
  acquire(nowMs: number): MetricsPage {
    const page = this.#reusablePage(nowMs) ?? this.#generate(nowMs);
    page.readers++;
    return page;
  }

  /** Releases the page of one reader. */
  release(page: MetricsPage): void {
    page.readers--;
    this.#dropUnread();
  }

  #reusablePage(nowMs: number): MetricsPage | undefined {
    const newest = this.#large.at(-1);
    if (newest === undefined) return undefined;
    const isYoung = nowMs - newest.createdMs < LARGE_PAGE_MS;
    return isYoung || this.#large.length >= MAX_LARGE_PAGES ? newest : undefined;
  }

  #generate(nowMs: number): MetricsPage {
    const bytes = encodeResponse({ status: 200, body: this.#metrics.text(), type: METRICS_TYPE });
    const page = { bytes, createdMs: nowMs, readers: 0 };
    if (bytes.bytes.length < LARGE_PAGE_BYTES) return page;
    this.#large.push(page);
    this.#dropUnread();
    return page;
  }

  #dropUnread(): void {
    const newest = this.#large.at(-1);
    this.#large = this.#large.filter((page) => page === newest || page.readers > 0);
  }
}

const pagesByMetrics = new WeakMap<Metrics, MetricsPages>();

/** Returns the pages of these metrics. Several HTTP servers of a program share them. */
export function metricsPagesOf(metrics: Metrics): MetricsPages {
  const pages = pagesByMetrics.get(metrics) ?? new MetricsPages(metrics);
  pagesByMetrics.set(metrics, pages);
  return pages;
}
