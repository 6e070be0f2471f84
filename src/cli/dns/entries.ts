/**
 * Names as a DNS server gets them: one by one, or by wildcards.
 */
import type { Destination } from './destination.ts';
import type { WantedName } from './wanted-names.ts';

/** One name and where it leads. */
export interface DnsEntry {
  /** Without a dot at the end; `*.k8s.example.com` for a wildcard. */
  readonly name: string;
  readonly edge: string;
  /** Of the Edge; the zone, if nobody says otherwise. */
  readonly domain?: string | undefined;
  readonly to: Destination;
}

/** A name whose destination is known. */
export interface KnownName extends WantedName {
  readonly to: Destination;
}

/** The records of one type of an entry. */
export interface RecordSet {
  readonly type: 'A' | 'AAAA' | 'CNAME';
  readonly values: readonly string[];
}

/** The first labels below the domain under which hosts are made. */
const PARENTS = ['k8s', 'konnectivity'] as const;

/** One entry for each name. */
export function entriesOf(names: readonly KnownName[]): readonly DnsEntry[] {
  return names.map(({ host, edge, domain, to }) => ({ name: host, edge, domain, to }));
}

/** Wildcards, and those names that no wildcard covers. */
export interface WildcardEntries {
  readonly entries: readonly DnsEntry[];
  readonly uncovered: readonly KnownName[];
}

/**
 * Wildcards below the domains of Edges, and an entry for each name that they do not cover. Of two Edges with one domain the
 * first has the wildcard: DNS takes a name of its own before a wildcard, so that the names of the other are right too.
 */
export function wildcardEntries(names: readonly KnownName[]): WildcardEntries {
  const wildcards = new Map<string, DnsEntry>();
  for (const { host, edge, domain, to } of names) {
    const name = wildcardOver(host, domain);
    if (name === undefined || wildcards.has(name)) continue;
    wildcards.set(name, { name, edge, domain, to });
  }
  const uncovered = names.filter(({ host, domain, to }) => {
    const wildcard = wildcards.get(wildcardOver(host, domain) ?? '');
    return wildcard === undefined || !isSame(wildcard.to, to);
  });
  return { entries: [...wildcards.values(), ...entriesOf(uncovered)], uncovered };
}

/** A name with one label more than `k8s.DOMAIN`: what has more may be hidden by a name between. */
function wildcardOver(host: string, domain: string | undefined): string | undefined {
  const parent = host.slice(host.indexOf('.') + 1);
  const isMade = domain !== undefined && PARENTS.some((one) => parent === `${one}.${domain}`);
  return isMade ? `*.${parent}` : undefined;
}

function isSame(a: Destination, b: Destination): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Its records, by type. */
export function recordSets({ to }: Pick<DnsEntry, 'to'>): readonly RecordSet[] {
  if (to.kind === 'name') return [{ type: 'CNAME', values: [to.host] }];
  const isV6 = (address: string) => address.includes(':');
  const v4 = to.addresses.filter((address) => !isV6(address));
  const v6 = to.addresses.filter(isV6);
  return [
    ...(v4.length === 0 ? [] : [{ type: 'A', values: v4 } as const]),
    ...(v6.length === 0 ? [] : [{ type: 'AAAA', values: v6 } as const]),
  ];
}
