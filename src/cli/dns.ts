import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { domain } from '../api/values/network-values.ts';
import { fieldValue } from './flags/field-value.ts';
import { parsedBy } from './flags/flag-values.ts';
import {
  exposureNames,
  filesOption,
  rejectGiven,
  stateOption,
  withClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { isAddressOrName } from './dns/destination.ts';
import { FORMAT_NAMES, FORMATS, formatsWith, type FormatName } from './dns/formats/formats.ts';
import { outputOption, type Output } from './output/output.ts';
import { CommandError } from './output/messages.ts';
import type { SourceFlags } from './sources/read-management.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Formats:
${FORMAT_NAMES.map((name) => `  ${name.padEnd(12)}  ${FORMATS[name].title}`).join('\n')}

Examples:
  snicket dns                              # check all in the namespace
  snicket dns tenants/blue red -o json     # check two, as JSON
  snicket dns -A --format bind --wildcard  # records, with wildcards
  snicket dns blue --format windows --zone example.com
  snicket dns -f tenants.d --format hosts  # from a folder
  snicket dns -f edge.yaml blue.yaml       # files instead of a cluster
  snicket dns --state /var/lib/snicket     # from a state folder
  snicket dns blue --format bind --address 203.0.113.10  # behind NAT
  snicket dns -A --format external-dns | kubectl apply -n dns -f -

Names are resolved by this machine, including /etc/hosts. This command writes
nothing.

Exit codes:
  0  every name resolves to its Edge; with --format: all records printed
  1  a name is missing or wrong; with --format: some names have no record
  2  invalid command line or file, no such Exposure, with -f no Exposure at all,
     or the management cluster cannot be read`;

/** Records change rarely, but clients should notice a change soon. */
const DEFAULT_TTL_SECONDS = 300;
/** RFC 2181, section 8. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;

/** Flags that apply only with --format. */
const FORMAT_FLAGS = ['wildcard', 'ttl', 'zone'] as const;

/** The flags as Commander reads them. */
export interface DnsFlags extends Omit<SourceFlags, 'filename'> {
  readonly filename?: readonly string[];
  readonly output: Output;
  readonly format?: FormatName;
  readonly wildcard: boolean;
  readonly ttl: number;
  readonly zone?: readonly string[];
  readonly address?: readonly string[];
}

/** `snicket dns`: checks or prints the DNS records that point hosts of Exposures to their Edge. */
export function dnsCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('dns'))
    .description('Check that hosts of Exposures resolve to their Edge, or print DNS records')
    .addArgument(
      new Argument(
        '[exposure...]',
        'NAMESPACE/NAME or NAME (default: all in the namespace)',
      ).argParser(exposureNames),
    )
    .option('-A, --all-namespaces', 'Exposures of all namespaces', false)
    .addOption(filesOption())
    .addOption(stateOption())
    .option(
      '--address <address>',
      'IP address or DNS name of the records, instead of those of the Edge, as behind NAT; can be repeated',
      parseAddresses,
    )
    .addOption(outputOption())
    .optionsGroup('Options for records:')
    .addOption(
      new Option('--format <format>', 'print records in the format of this DNS server').choices(
        FORMAT_NAMES,
      ),
    )
    .option('--wildcard', 'wildcard records, one for hosts that share a parent', false)
    .option('--ttl <seconds>', 'TTL of each record, in seconds', parseTtl, DEFAULT_TTL_SECONDS)
    .option(
      '--zone <domain>',
      'with --format windows: zone of the records; can be repeated (default: the domain of the Edge)',
      parseZones,
    )
    .addHelpText('after', EXAMPLES)
    .action(
      async (named: readonly NamedExposure[] | undefined, flags: DnsFlags, command: Command) => {
        const exposures = named ?? [];
        rejectMisplaced(flags, command);
        const { runDns } = await import('./dns/run-dns.ts');
        await runDns(io, exposures, flags, command);
      },
    );
}

function rejectMisplaced(flags: DnsFlags, command: Command): void {
  if (flags.format === undefined) {
    rejectGiven(FORMAT_FLAGS, 'requires --format', command, '--format');
    return;
  }
  if (command.getOptionValueSource('output') === 'cli') {
    throw new CommandError('--format and -o are mutually exclusive', 'remove one of them');
  }
  if (flags.wildcard && FORMATS[flags.format].hasWildcards === false) {
    throw new CommandError(
      `format ${flags.format} does not support wildcards`,
      `remove --wildcard, or use one of: ${formatsWith('hasWildcards')}`,
    );
  }
}

function parseTtl(text: string): number {
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds;
  throw new InvalidArgumentError(`must be an integer from 1 to ${MAX_TTL_SECONDS}`);
}

function parseAddresses(text: string, before: readonly string[] = []): readonly string[] {
  if (isAddressOrName(text)) return [...before, text];
  throw new InvalidArgumentError('must be an IP address or a DNS name');
}

function parseZones(text: string, before: readonly string[] = []): readonly string[] {
  const zone = text.replace(/\.$/, '').toLowerCase();
  return [...before, parsedBy(() => fieldValue(domain, zone))];
}
