/**
 * Lines of dnsmasq.conf. A name that leads to a name is not among them: dnsmasq's `cname` takes only targets that it knows
 * itself, from host-record or /etc/hosts.
 */
import { recordSets, type DnsEntry } from '../entries.ts';
import { byEdge, faultless, type FormatOptions, type RecordFormat } from './format.ts';

/** The format. */
export const dnsmasq: RecordFormat = {
  title: 'lines of dnsmasq.conf',
  hasAliases: false,
  hasWildcards: true,
  fault: faultless,
  text: (entries, options) =>
    byEdge(entries)
      .map(([edge, ours]) => {
        const lines = ours.flatMap((entry) => linesOf(entry, options));
        return `# Edge ${edge}\n${lines.map((line) => `${line}\n`).join('')}`;
      })
      .join(''),
};

function linesOf({ name, to }: DnsEntry, { ttlSeconds }: FormatOptions): readonly string[] {
  const sets = recordSets({ to });
  const addresses = sets.flatMap(({ values }) => values);
  if (name.startsWith('*.')) {
    // For all names below it, and for itself. Its TTL is that of local-ttl.
    return addresses.map((address) => `address=/${name.slice(2)}/${address}`);
  }
  const records = addresses.map((address) => `host-record=${name},${address},${ttlSeconds}`);
  // Else others are asked for the other family, and say that there is no such name, which musl takes for the last word.
  return sets.length === 1 ? [`local=/${name}/`, ...records] : records;
}
