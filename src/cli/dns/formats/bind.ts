/** Lines of a zone file (RFC 1035). All names are absolute, so that they are correct below any $ORIGIN. */
import { recordSets, type DnsEntry } from '../entries.ts';
import { byEdge, faultless, type FormatOptions, type RecordFormat } from './format.ts';

/** The zone file format of BIND and others. */
export const bind: RecordFormat = {
  title: 'a zone file of BIND, NSD, Knot or PowerDNS',
  hasAliases: true,
  hasWildcards: true,
  fault: faultless,
  text: zoneLines,
};

/** Returns the lines, with a comment for each Edge. */
export function zoneLines(entries: readonly DnsEntry[], { ttlSeconds }: FormatOptions): string {
  const width = Math.max(...entries.map(({ name }) => name.length)) + 1;
  return byEdge(entries)
    .map(([edge, ours]) => {
      const lines = ours.flatMap((entry) =>
        recordSets(entry).flatMap(({ type, values }) =>
          values.map((value) => {
            const data = type === 'CNAME' ? `${value}.` : value;
            return `${`${entry.name}.`.padEnd(width)} ${ttlSeconds} IN ${type.padEnd(5)} ${data}\n`;
          }),
        ),
      );
      return `; Edge ${edge}\n${lines.join('')}`;
    })
    .join('');
}
