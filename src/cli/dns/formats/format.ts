/**
 * The interface of a record format.
 */
import type { Finding } from '../../../api/finding.ts';
import type { DnsEntry } from '../entries.ts';

/** Options of a record format. */
export interface FormatOptions {
  readonly ttlSeconds: number;
  /** Zones given by the user. Default: the domain of the Edge. */
  readonly zones: readonly string[];
}

/** Why a format cannot express some records, and what to do. */
export type FormatFault = Pick<Finding, 'message' | 'action'>;

/** The check of a format that can express all records. */
export const faultless = (): undefined => undefined;

/** A record format for one kind of DNS server. */
export interface RecordFormat {
  /** What the format is for, in a few words. */
  readonly title: string;
  /** Whether the format supports CNAME records. */
  readonly hasAliases: boolean;
  readonly hasWildcards: boolean;
  /** Returns why the format cannot express these records, or undefined if it can. */
  fault(entries: readonly DnsEntry[], options: FormatOptions): FormatFault | undefined;
  /** Returns the text, with a trailing line break. */
  text(entries: readonly DnsEntry[], options: FormatOptions): string;
}

/** Returns the entries grouped by Edge, in the order of the first entry of each Edge. */
export function byEdge(
  entries: readonly DnsEntry[],
): readonly (readonly [edge: string, entries: readonly DnsEntry[]])[] {
  return [...Map.groupBy(entries, ({ edge }) => edge)];
}
