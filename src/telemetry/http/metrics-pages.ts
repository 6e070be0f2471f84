/**
 * The metrics as an answer. With 20,000 routes that is tens of megabytes, and a reader may take its time: so those who
 * ask for a large page within a second get the same bytes, and only a few such pages are held at a time.
 */
import type { Metrics } from '../metrics.ts';
import { encodeAnswer, type AnswerBytes } from './answer.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** From here on a page is shared. Smaller ones are made for each reader, and show the numbers of that moment. */
export const LARGE_PAGE_BYTES = 256 * 1024;

/** How long a large page is given to new readers. */
export const LARGE_PAGE_MS = 1000;

/**
 * The newest large page and older ones that somebody still reads. With so many the newest is given to all, however old:
 * that is no older than the time that a reader has.
 */
export const MAX_LARGE_PAGES = 3;

/** A page in the hands of its readers. */
export interface MetricsPage {
  readonly bytes: AnswerBytes;
  readonly madeMs: number;
  readers: number;
}

/** The pages of one set of metrics. */
export class MetricsPages {
  readonly #metrics: Metrics;
  /** The large ones, the newest last. */
  #large: MetricsPage[] = [];

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** A page for one more reader, who gives it back by {@link leave}. @throws what a metric throws */
  take(nowMs: number): MetricsPage {
    const page = this.#stillGood(nowMs) ?? this.#make(nowMs);
    page.readers++;
    return page;
  }

  /** This reader is done with it. */
  leave(page: MetricsPage): void {
    page.readers--;
    this.#forgetUnread();
  }

  #stillGood(nowMs: number): MetricsPage | undefined {
    const newest = this.#large.at(-1);
    if (newest === undefined) return undefined;
    const isYoung = nowMs - newest.madeMs < LARGE_PAGE_MS;
    return isYoung || this.#large.length >= MAX_LARGE_PAGES ? newest : undefined;
  }

  #make(nowMs: number): MetricsPage {
    const bytes = encodeAnswer({ status: 200, body: this.#metrics.text(), type: METRICS_TYPE });
    const page = { bytes, madeMs: nowMs, readers: 0 };
    if (bytes.whole.length < LARGE_PAGE_BYTES) return page;
    this.#large.push(page);
    this.#forgetUnread();
    return page;
  }

  #forgetUnread(): void {
    const newest = this.#large.at(-1);
    this.#large = this.#large.filter((page) => page === newest || page.readers > 0);
  }
}

const pagesByMetrics = new WeakMap<Metrics, MetricsPages>();

/** The pages of these metrics: one program may show them on several addresses. */
export function metricsPagesOf(metrics: Metrics): MetricsPages {
  const pages = pagesByMetrics.get(metrics) ?? new MetricsPages(metrics);
  pagesByMetrics.set(metrics, pages);
  return pages;
}
