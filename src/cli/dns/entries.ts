/**
 * Entries for a DNS server: one per name, or wildcards.
 */
import type { Destination } from './destination.ts';
import type { RequiredName } from './required-names.ts';

/** A name and where it points. */
export interface DnsEntry {
  /** Without a trailing dot; `*.k8s.example.com` for a wildcard. */
  readonly name: string;
  readonly edge: string;
  /** The domain of the Edge, which is the zone by default. */
  readonly domain?: string | undefined;
  readonly to: Destination;
}

/** A name whose destination is known. */
export interface KnownName extends RequiredName {
  readonly to: Destination;
}

/** The records of one type of an entry. */
export interface RecordSet {
  readonly type: 'A' | 'AAAA' | 'CNAME';
  readonly values: readonly string[];
}

/** The labels below the domain of an Edge under which Snicket creates hosts. */
const PARENTS = ['k8s', 'konnectivity'] as const;

/** Returns one entry for each name. */
export function entriesOf(names: readonly KnownName[]): readonly DnsEntry[] {
  return names.map(({ host, edge, domain, to }) => ({ name: host, edge, domain, to }));
}

/** Entries with wildcards, and the names that no wildcard covers. */
interface WildcardEntries {
  readonly entries: readonly DnsEntry[];
  readonly uncovered: readonly KnownName[];
}

/**
 * Returns wildcards below the domains of Edges, and an entry for each name that they do not cover. If two Edges have
 * the same domain, the first one gets the wildcard. In DNS an exact name takes precedence over a wildcard, so that the
 * names of the second Edge are correct too.
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

/**
 * Returns the wildcard for a name with exactly one label more than `k8s.DOMAIN`. For a longer name, another name in
 * between could hide the wildcard.
 */
function wildcardOver(host: string, domain: string | undefined): string | undefined {
  const parent = host.slice(host.indexOf('.') + 1);
  const isMade = domain !== undefined && PARENTS.some((one) => parent === `${one}.${domain}`);
  return isMade ? `*.${parent}` : undefined;
}

function isSame(a: Destination, b: Destination): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the records of an entry, by type. */
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
