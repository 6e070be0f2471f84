/** CSV for the import of Infoblox NIOS: a line with the names of the fields for each type, and names without a dot at the end. */
import { recordSets, type DnsEntry, type RecordSet } from '../entries.ts';
import { faultless, type FormatOptions, type RecordFormat } from './format.ts';

const HEADERS = {
  A: 'header-arecord,fqdn*,address*,comment,ttl',
  AAAA: 'header-aaaarecord,fqdn*,address*,comment,ttl',
  CNAME: 'header-cnamerecord,fqdn*,canonical_name,comment,ttl',
} as const;

const OBJECTS = { A: 'arecord', AAAA: 'aaaarecord', CNAME: 'cnamerecord' } as const;

/** The format. */
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

/** Names, addresses and numbers: nothing in them has to be quoted. */
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
