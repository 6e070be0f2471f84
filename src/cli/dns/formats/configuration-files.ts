/**
 * Lines for configuration files: of /etc/hosts, dnsmasq and CoreDNS.
 */
import { recordSets, type DnsEntry, type RecordSet } from '../entries.ts';
import { recordsIn, sections, type RecordFormat } from './format.ts';

/** The format of /etc/hosts, which supports neither wildcards nor CNAME records. */
export const hosts: RecordFormat = {
  title: 'lines of /etc/hosts',
  hasAliases: false,
  hasWildcards: false,
  text: (entries) =>
    sections('#', entries, (entry) =>
      recordsIn(entry).map(({ value }) => `${value} ${entry.name}`),
    ),
};

/**
 * The format of dnsmasq.conf, without CNAME records: dnsmasq's `cname` accepts only targets that dnsmasq knows itself,
 * from host-record or /etc/hosts.
 */
export const dnsmasq: RecordFormat = {
  title: 'lines of dnsmasq.conf',
  hasAliases: false,
  text: (entries, { ttlSeconds }) =>
    sections('#', entries, (entry) => dnsmasqLines(entry, ttlSeconds)),
};

function dnsmasqLines({ name, to }: DnsEntry, ttlSeconds: number): readonly string[] {
  const addresses = recordsIn({ to }).map(({ value }) => value);
  if (isWildcard(name)) {
    // Covers the domain itself and all names below it. Its TTL is that of local-ttl.
    return addresses.map((address) => `address=/${name.slice(2)}/${address}`);
  }
  const records = addresses.map((address) => `host-record=${name},${address},${ttlSeconds}`);
  // Without `local`, dnsmasq forwards queries for the other address family. The upstream then answers NXDOMAIN, which
  // musl takes for both families.
  return recordSets({ to }).length === 1 ? [`local=/${name}/`, ...records] : records;
}

/**
 * The Corefile format of CoreDNS. Uses the template plugin and not hosts: a block may contain hosts only once, and hosts
 * supports neither wildcards nor CNAME records.
 */
export const coredns: RecordFormat = {
  title: 'lines for a server block of a Corefile',
  text(entries, { ttlSeconds }) {
    // CoreDNS answers from the first template that matches, so wildcards are last.
    const own = entries.filter(({ name }) => !isWildcard(name));
    const wildcards = entries.filter(({ name }) => isWildcard(name));
    return [own, wildcards]
      .map((part) => sections('#', part, (entry) => templates(entry, ttlSeconds)))
      .join('');
  },
};

function templates(entry: DnsEntry, ttlSeconds: number): readonly string[] {
  const sets = recordSets(entry);
  const alias = sets.find(({ type }) => type === 'CNAME');
  return (['A', 'AAAA'] as const).flatMap((type) =>
    template(entry, type, alias ?? sets.find((one) => one.type === type), ttlSeconds),
  );
}

/**
 * Returns the template for one type. Without records, its answer is an empty NOERROR: the query would otherwise fall
 * through to another plugin, which would answer NXDOMAIN.
 */
function template(
  { name, to }: DnsEntry,
  type: string,
  set: RecordSet | undefined,
  ttlSeconds: number,
): readonly string[] {
  const zone = isWildcard(name) ? name.slice(2) : name;
  const pattern = `${isWildcard(name) ? '^[^.]+[.]' : '^'}${zone.replaceAll('.', '[.]')}[.]$`;
  const answers = recordsIn({ to })
    .filter((record) => record.type === set?.type)
    .map((record) => `answer "{{ .Name }} ${ttlSeconds} IN ${record.type} ${record.data}"`);
  const body = [
    `match "${pattern}"`,
    ...(answers.length === 0 ? ['rcode NOERROR'] : answers),
    'fallthrough',
  ];
  return [`template IN ${type} ${zone} {`, ...body.map((line) => `    ${line}`), '}'];
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.');
}
