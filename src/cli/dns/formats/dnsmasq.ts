/**
 * Lines of dnsmasq.conf, without CNAME records: dnsmasq's `cname` accepts only targets that dnsmasq knows itself, from
 * host-record or /etc/hosts.
 */
import { recordSets, type DnsEntry } from '../entries.ts';
import { byEdge, faultless, type FormatOptions, type RecordFormat } from './format.ts';

/** The format of dnsmasq.conf. */
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
    // Covers the domain itself and all names below it. Its TTL is that of local-ttl.
    return addresses.map((address) => `address=/${name.slice(2)}/${address}`);
  }
  const records = addresses.map((address) => `host-record=${name},${address},${ttlSeconds}`);
  // Without `local`, dnsmasq forwards queries for the other address family. The upstream then answers NXDOMAIN, which
  // musl takes for both families.
  return sets.length === 1 ? [`local=/${name}/`, ...records] : records;
}
