/**
 * Input for the tools of DNS services: external-dns, Route 53, Infoblox NIOS and Windows DNS.
 */
import { yamlText } from '../../../manifests/yaml-text.ts';
import { sentence } from '../../../text/sentence.ts';
import { recordSets, type DnsEntry } from '../entries.ts';
import { byEdge, recordsIn, sections, type FormatOptions, type RecordFormat } from './format.ts';

/** DNSEndpoints for external-dns with `--source=crd`: one for each Edge. */
export const externalDns: RecordFormat = {
  title: 'DNSEndpoint objects for external-dns',
  text: (entries, { ttlSeconds }) =>
    byEdge(entries)
      .map(([edge, ours]) =>
        yamlText({
          apiVersion: 'externaldns.k8s.io/v1alpha1',
          kind: 'DNSEndpoint',
          metadata: { name: `snicket-${edge}` },
          spec: {
            endpoints: ours.flatMap((entry) =>
              recordSets(entry).map(({ type, values }) => ({
                dnsName: entry.name,
                recordType: type,
                recordTTL: ttlSeconds,
                targets: values,
              })),
            ),
          },
        }),
      )
      .join('---\n'),
};

/** Maximum number of records in one request. Route 53 allows 1000 and counts a record twice in an UPSERT. */
const MAX_RECORDS = 1000 / 2;

/** A change batch for `aws route53 change-resource-record-sets`. */
export const route53: RecordFormat = {
  title: 'a change batch for Amazon Route 53',
  fault(entries) {
    const count = entries.flatMap(recordsIn).length;
    if (count <= MAX_RECORDS) return undefined;
    return {
      message: `Route 53 accepts ${MAX_RECORDS} records at once, but there are ${count}.`,
      action: 'Name fewer Exposures, or use --wildcard.',
    };
  },
  text(entries, { ttlSeconds }) {
    const edges = byEdge(entries).map(([edge]) => `Edge ${edge}`);
    const batch = {
      Comment: `snicket: ${edges.join(', ')}`,
      Changes: entries.flatMap((entry) =>
        recordSets(entry).map(({ type }) => ({
          Action: 'UPSERT',
          ResourceRecordSet: {
            Name: `${entry.name}.`,
            Type: type,
            TTL: ttlSeconds,
            ResourceRecords: recordsIn(entry)
              .filter((record) => record.type === type)
              .map(({ data }) => ({ Value: data })),
          },
        })),
      ),
    };
    return `${JSON.stringify(batch, null, 2)}\n`;
  },
};

/** The record types of Infoblox: the object of a line, and the name of its value in the header. */
const INFOBLOX_TYPES = [
  ['A', 'arecord', 'address*'],
  ['AAAA', 'aaaarecord', 'address*'],
  ['CNAME', 'cnamerecord', 'canonical_name'],
] as const;

/**
 * CSV for the import of Infoblox NIOS: a header line for each record type, and names without a trailing dot. The fields
 * need no quotes, because they are names, addresses and numbers.
 */
export const infoblox: RecordFormat = {
  title: 'CSV for the import of Infoblox NIOS',
  text: (entries, { ttlSeconds }) =>
    INFOBLOX_TYPES.map(([type, object, valueName]) => {
      const lines = entries.flatMap((entry) =>
        recordsIn(entry)
          .filter((record) => record.type === type)
          .map(
            ({ value }) =>
              `${object},${entry.name},${value},snicket Edge ${entry.edge},${ttlSeconds}\n`,
          ),
      );
      const header = `header-${object},fqdn*,${valueName},comment,ttl\n`;
      return lines.length === 0 ? '' : header + lines.join('');
    }).join(''),
};

const WINDOWS_PARAMETERS = {
  A: 'A -IPv4Address',
  AAAA: 'AAAA -IPv6Address',
  CNAME: 'CName -HostNameAlias',
} as const;

/** PowerShell commands for Windows DNS. They take a zone, and the name relative to it. */
export const windows: RecordFormat = {
  title: 'PowerShell commands for Windows DNS',
  fault(entries, { zones }) {
    const lost = entries.find((entry) => zoneOf(entry, zones) === undefined);
    if (lost === undefined) return undefined;
    const known = [...zones, ...(lost.domain === undefined ? [] : [lost.domain])];
    const where =
      known.length === 0
        ? 'no zone is known'
        : `the known zones (${known.join(', ')}) do not contain it`;
    return {
      message: sentence(`Windows requires the zone of ${lost.name}, but ${where}`),
      action: 'Set it with --zone.',
    };
  },
  text: (entries, options) => sections('#', entries, (entry) => windowsLines(entry, options)),
};

/** Returns the longest matching zone given by the user, or else the domain of the Edge. */
function zoneOf({ name, domain }: DnsEntry, zones: readonly string[]): string | undefined {
  const isIn = (zone: string) => name === zone || name.endsWith(`.${zone}`);
  const [named] = zones.filter(isIn).toSorted((a, b) => b.length - a.length);
  return named ?? (domain !== undefined && isIn(domain) ? domain : undefined);
}

function windowsLines(entry: DnsEntry, { ttlSeconds, zones }: FormatOptions): readonly string[] {
  const zone = zoneOf(entry, zones) ?? '';
  const name = entry.name === zone ? '@' : entry.name.slice(0, -zone.length - 1);
  return recordsIn(entry).map(({ type, data }) => {
    const [suffix, parameter] = WINDOWS_PARAMETERS[type].split(' ');
    return `Add-DnsServerResourceRecord${suffix} -ZoneName '${zone}' -Name '${name}' ${parameter} '${data}' -TimeToLive '${timeSpan(ttlSeconds)}'`;
  });
}

/** Returns seconds as a .NET TimeSpan: `d.hh:mm:ss`. */
function timeSpan(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const time = [two((seconds / 3600) % 24), two((seconds / 60) % 60), two(seconds % 60)].join(':');
  const days = Math.floor(seconds / 86_400);
  return days === 0 ? time : `${days}.${time}`;
}
