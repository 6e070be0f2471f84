/**
 * What a way of writing records down is.
 */
import type { Finding } from '../../../api/finding.ts';
import type { DnsEntry } from '../entries.ts';

/** How records are written. */
export interface FormatOptions {
  readonly ttlSeconds: number;
  /** Zones that somebody named. Default: the domain of the Edge. */
  readonly zones: readonly string[];
}

/** Why records cannot be written down, and what to do. */
export type FormatFault = Pick<Finding, 'message' | 'action'>;

/** For a format that takes whatever there is. */
export const faultless = (): undefined => undefined;

/** A way of writing records down, for one kind of DNS server. */
export interface RecordFormat {
  /** For whom, in a few words. */
  readonly title: string;
  /** Whether a name can lead to a name. */
  readonly hasAliases: boolean;
  readonly hasWildcards: boolean;
  /** Why these records cannot be written down; nothing if they can. */
  fault(entries: readonly DnsEntry[], options: FormatOptions): FormatFault | undefined;
  /** The text, with a line break at its end. */
  text(entries: readonly DnsEntry[], options: FormatOptions): string;
}

/** The entries by their Edges, in the order of the first of each. */
export function byEdge(
  entries: readonly DnsEntry[],
): readonly (readonly [edge: string, entries: readonly DnsEntry[]])[] {
  return [...Map.groupBy(entries, ({ edge }) => edge)];
}
