/**
 * DNS records for names in a given format, with notes and findings. Pure.
 */
import type { Finding } from '../../api/finding.ts';
import { destinationText } from './destination.ts';
import { entriesOf, wildcardEntries, type KnownName } from './entries.ts';
import type { FormatOptions } from './formats/format.ts';
import { FORMATS, formatsWith, type FormatName } from './formats/formats.ts';
import { embeddedAddress } from './embedded-address.ts';
import type { NamedFinding, RequiredName } from './required-names.ts';

/** Options of {@link recordsOf}. */
export interface RecordsOptions extends FormatOptions {
  readonly format: FormatName;
  readonly hasWildcards: boolean;
}

/** The text of the records, and notes and findings about them. */
interface Records {
  /** Empty if there are no records. */
  readonly text: string;
  readonly notes: readonly string[];
  readonly findings: readonly NamedFinding[];
}

/**
 * Returns the records for these names. Leaves out names whose Edge has no address, which a finding about the Edge
 * reports.
 */
export function recordsOf(names: readonly RequiredName[], options: RecordsOptions): Records {
  const format = FORMATS[options.format];
  const known = names.filter((name): name is KnownName => name.to !== undefined);
  const own = known.filter(({ host }) => embeddedAddress(host) === undefined);
  const findings = embeddedAddressFindings(names);
  const sayable = own.filter(({ to }) => format.hasAliases !== false || to.kind === 'addresses');
  findings.push(...aliasFindings(own, options.format));
  const { entries, uncovered } = options.hasWildcards
    ? wildcardEntries(sayable)
    : { entries: entriesOf(sayable), uncovered: [] };
  const notes = [
    ...embeddedAddressNotes(names),
    ...uncovered.map(({ host }) => `${host} is not covered by a wildcard and has its own records`),
  ];
  if (entries.length === 0) return { text: '', notes, findings };
  const fault = format.fault?.(entries, options);
  if (fault !== undefined) {
    const of = `--format ${options.format}`;
    findings.push({ of, code: 'RecordsUnsupported', severity: 'error', ...fault });
    return { text: '', notes, findings };
  }
  return { text: format.text(entries, options), notes, findings };
}

function aliasFindings(names: readonly KnownName[], format: FormatName): readonly NamedFinding[] {
  if (FORMATS[format].hasAliases !== false) return [];
  const edges = new Map(
    names.flatMap(({ edge, to }) => (to.kind === 'name' ? [[edge, to.host] as const] : [])),
  );
  return [...edges].map(([edge, host]) => ({
    of: `Edge ${edge}`,
    code: 'RecordsUnsupported',
    severity: 'error',
    message: `The Edge has the name ${host}, but in format ${format} a name cannot point to a name.`,
    action: `Set spec.addresses of the Edge to IP addresses, or use one of the formats ${formatsWith('hasAliases')}.`,
  }));
}

/** Returns findings about nip.io and sslip.io names that do not contain the addresses of their Edge. */
export function embeddedAddressFindings(names: readonly RequiredName[]): NamedFinding[] {
  return names.flatMap(({ exposure, edge, host, to }) => {
    const own = embeddedAddress(host);
    if (own === undefined || to?.kind !== 'addresses') return [];
    const { addresses } = own;
    if (addresses.length > 0 && addresses.every((one) => to.addresses.includes(one))) return [];
    const says =
      addresses.length === 0
        ? 'contains no address'
        : `contains the address ${addresses.join(', ')}`;
    const finding: Finding = {
      code: 'HostMismatch',
      severity: 'error',
      message: `Host ${host} ${says}, but Edge ${edge} has ${destinationText(to)}.`,
      action: `Correct spec.domain of the Edge, or spec.hosts of the Exposure.`,
    };
    return { ...finding, of: exposure };
  });
}

/** Returns notes on names that need no record. */
export function embeddedAddressNotes(names: readonly RequiredName[]): readonly string[] {
  const parents = names.flatMap(({ host, domain }) => {
    const own = embeddedAddress(host);
    if (own === undefined) return [];
    return domain !== undefined && host.endsWith(`.${domain}`) ? `*.${domain}` : host;
  });
  return [...new Set(parents)].map(
    (name) => `${name} needs no record: the address is in the name itself`,
  );
}
