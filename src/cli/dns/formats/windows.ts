/** PowerShell commands for a Windows DNS server. They take a zone, and the name relative to it. */
import { recordSets, type DnsEntry } from '../entries.ts';
import { byEdge, type FormatOptions, type RecordFormat } from './format.ts';
import { sentence } from '../../../text/sentence.ts';

const PARAMETERS = {
  A: 'A -IPv4Address',
  AAAA: 'AAAA -IPv6Address',
  CNAME: 'CName -HostNameAlias',
} as const;

/** The PowerShell format for Windows DNS. */
export const windows: RecordFormat = {
  title: 'PowerShell commands for Windows DNS',
  hasAliases: true,
  hasWildcards: true,
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
  text: (entries, options) =>
    byEdge(entries)
      .map(([edge, ours]) => {
        const lines = ours.flatMap((entry) => commandsFor(entry, options));
        return `# Edge ${edge}\n${lines.map((line) => `${line}\n`).join('')}`;
      })
      .join(''),
};

/** Returns the longest matching zone given by the user, or else the domain of the Edge. */
function zoneOf({ name, domain }: DnsEntry, zones: readonly string[]): string | undefined {
  const isIn = (zone: string) => name === zone || name.endsWith(`.${zone}`);
  const [named] = zones.filter(isIn).toSorted((a, b) => b.length - a.length);
  return named ?? (domain !== undefined && isIn(domain) ? domain : undefined);
}

function commandsFor(entry: DnsEntry, { ttlSeconds, zones }: FormatOptions): readonly string[] {
  const zone = zoneOf(entry, zones) ?? '';
  const name = entry.name === zone ? '@' : entry.name.slice(0, -zone.length - 1);
  return recordSets(entry).flatMap(({ type, values }) =>
    values.map((value) => {
      const [suffix, parameter] = PARAMETERS[type].split(' ');
      const data = type === 'CNAME' ? `${value}.` : value;
      return `Add-DnsServerResourceRecord${suffix} -ZoneName '${zone}' -Name '${name}' ${parameter} '${data}' -TimeToLive '${timeSpan(ttlSeconds)}'`;
    }),
  );
}

/** Returns seconds as a .NET TimeSpan: `d.hh:mm:ss`. */
function timeSpan(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const time = [two((seconds / 3600) % 24), two((seconds / 60) % 60), two(seconds % 60)].join(':');
  const days = Math.floor(seconds / 86_400);
  return days === 0 ? time : `${days}.${time}`;
}
