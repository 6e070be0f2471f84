/**
 * Entries for a DNS server: one per name, or wildcards.
 */
import { destinationText, type Destination } from './destination.ts';
import type { RequiredName } from './required-names.ts';

/** A name and its destination. */
export interface DnsEntry {
  /** Without a trailing dot; `*.k8s.example.com` for a wildcard. */
  readonly name: string;
  readonly edge: string;
  /** The domain of the Edge, which is the zone by default. */
  readonly domain?: string | undefined;
  /** The port of the Edge. */
  readonly port: number;
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
const GENERATED_PARENTS = ['k8s', 'konnectivity'] as const;

/** The fewest labels of a parent that hosts outside `k8s.DOMAIN` share: `*.example.com` would cover a whole domain. */
const MIN_SHARED_LABELS = 3;

/** Returns one entry for each name. */
export function entriesOf(names: readonly KnownName[]): readonly DnsEntry[] {
  return names.map(({ host, edge, domain, port, to }) => ({ name: host, edge, domain, port, to }));
}

/** Entries with wildcards, and the names that no wildcard covers. */
interface WildcardEntries {
  readonly entries: readonly DnsEntry[];
  readonly uncovered: readonly KnownName[];
}

/**
 * Returns wildcards below the domains of Edges and above hosts that share a parent, and an entry for each name that they
 * do not cover. If two Edges have the same domain, the first one gets the wildcard. In DNS an exact name takes
 * precedence over a wildcard, so that the names of the second Edge are correct too.
 */
export function wildcardEntries(names: readonly KnownName[]): WildcardEntries {
  const siblings = Map.groupBy(names, siblingsKey);
  const wildcardFor = (name: KnownName): string | undefined => {
    const parent = parentOf(name.host);
    const hosts = new Set(siblings.get(siblingsKey(name))?.map(({ host }) => host));
    const isShared = hosts.size > 1 && parent.split('.').length >= MIN_SHARED_LABELS;
    return isShared || isDerived(name) ? `*.${parent}` : undefined;
  };
  const wildcards = new Map<string, DnsEntry>();
  for (const one of names) {
    const name = wildcardFor(one);
    if (name === undefined || wildcards.has(name)) continue;
    const { edge, domain, port, to } = one;
    wildcards.set(name, { name, edge, domain, port, to });
  }
  // RFC 4592, section 2.2.2: a name above another one exists, and no wildcard answers for it.
  const existing = new Set(names.flatMap(({ host }) => ancestorsOf(host)));
  const uncovered = names.filter((name) => {
    const wildcard = wildcards.get(wildcardFor(name) ?? '');
    return wildcard === undefined || !isSame(wildcard.to, name.to) || existing.has(name.host);
  });
  return { entries: [...wildcards.values(), ...entriesOf(uncovered)], uncovered };
}

/** Identifies the names with the same parent and destination. */
function siblingsKey({ host, to }: KnownName): string {
  return `${parentOf(host)} ${destinationText(to)}`;
}

/** Reports whether a name has exactly one label more than `k8s.DOMAIN`, as those that Snicket derives. */
function isDerived({ host, domain }: KnownName): boolean {
  return (
    domain !== undefined && GENERATED_PARENTS.some((one) => parentOf(host) === `${one}.${domain}`)
  );
}

function parentOf(host: string): string {
  return host.slice(host.indexOf('.') + 1);
}

function ancestorsOf(host: string): readonly string[] {
  const labels = host.split('.');
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'));
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
