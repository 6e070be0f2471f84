/** CSV for the import of Infoblox NIOS: a header line for each record type, and names without a trailing dot. */
import { recordSets, type DnsEntry, type RecordSet } from '../entries.ts';
import { faultless, type FormatOptions, type RecordFormat } from './format.ts';

const HEADERS = {
  A: 'header-arecord,fqdn*,address*,comment,ttl',
  AAAA: 'header-aaaarecord,fqdn*,address*,comment,ttl',
  CNAME: 'header-cnamerecord,fqdn*,canonical_name,comment,ttl',
} as const;

const OBJECTS = { A: 'arecord', AAAA: 'aaaarecord', CNAME: 'cnamerecord' } as const;

/** The CSV import format of Infoblox NIOS. */
export const infoblox: RecordFormat = {
  title: 'CSV for the import of Infoblox NIOS',
  hasAliases: true,
  hasWildcards: true,
  fault: faultless,
  text: (entries, options) =>
    (['A', 'AAAA', 'CNAME'] as const)
      .map((type) => {
        const lines = entries.flatMap((entry) => linesOf(entry, type, options));
        return lines.length === 0 ? '' : `${HEADERS[type]}\n${lines.join('')}`;
      })
      .join(''),
};

/** Returns the lines of one type. The fields need no quotes, because they are names, addresses and numbers. */
function linesOf(
  entry: DnsEntry,
  type: RecordSet['type'],
  { ttlSeconds }: FormatOptions,
): readonly string[] {
  const { values = [] } = recordSets(entry).find((set) => set.type === type) ?? {};
  const { name, edge } = entry;
  return values.map(
    (value) => `${OBJECTS[type]},${name},${value},snicket Edge ${edge},${ttlSeconds}\n`,
  );
}
