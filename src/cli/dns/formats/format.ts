/**
 * The interface of a record format, and what formats share.
 */
import type { Finding } from '../../../api/finding.ts';
import { recordSets, type DnsEntry, type RecordSet } from '../entries.ts';

/** Options of a record format. */
export interface FormatOptions {
  readonly ttlSeconds: number;
  /** Zones given by the user. Default: the domain of the Edge. */
  readonly zones: readonly string[];
}

/** Why a format cannot express some records, and what to do. */
type FormatFault = Pick<Finding, 'message' | 'action'>;

/** A record format for one kind of DNS server. */
export interface RecordFormat {
  /** What the format is for, in a few words. */
  readonly title: string;
  /** Whether the format supports CNAME records. Default true. */
  readonly hasAliases?: boolean;
  /** Default true. */
  readonly hasWildcards?: boolean;
  /** Returns why the format cannot express these records. Default: it can express all. */
  fault?(entries: readonly DnsEntry[], options: FormatOptions): FormatFault | undefined;
  /** Returns the text, with a trailing line break. */
  text(entries: readonly DnsEntry[], options: FormatOptions): string;
}

/** Returns the entries grouped by Edge, in the order of the first entry of each Edge. */
export function byEdge(
  entries: readonly DnsEntry[],
): readonly (readonly [edge: string, entries: readonly DnsEntry[]])[] {
  return [...Map.groupBy(entries, ({ edge }) => edge)];
}

/** Returns the lines of each Edge below a comment that names it. */
export function sections(
  comment: '#' | ';',
  entries: readonly DnsEntry[],
  linesOf: (entry: DnsEntry) => readonly string[],
): string {
  return byEdge(entries)
    .map(([edge, ours]) => [`${comment} Edge ${edge}`, ...ours.flatMap(linesOf), ''].join('\n'))
    .join('');
}

/** A single DNS record. */
interface DnsRecord {
  readonly type: RecordSet['type'];
  readonly value: string;
  /** The value in a zone file, where the name of a CNAME record ends with a dot. */
  readonly data: string;
}

/** Returns the records of an entry, one for each value. */
export function recordsIn(entry: Pick<DnsEntry, 'to'>): readonly DnsRecord[] {
  return recordSets(entry).flatMap(({ type, values }) =>
    values.map((value) => ({ type, value, data: type === 'CNAME' ? `${value}.` : value })),
  );
}
