import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { domain } from '../api/values/network-values.ts';
import { fieldValue } from './flags/field-value.ts';
import { parsedBy } from './flags/flag-values.ts';
import {
  exitWithAccessError,
  selectionOf,
  selectionsInFolder,
  folderOption,
  openManagement,
  exposureNames,
  rejectAccessFlags,
  rejectContradictions,
  withClusterFlags,
  type SelectionFlags,
  type ClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ManagementSnapshot } from '../management/management-snapshot.ts';
import type { NamedFinding, RequiredNames } from './dns/required-names.ts';
import { FORMAT_NAMES, FORMATS, formatsWith, type FormatName } from './dns/formats/formats.ts';
import { outputOption, type Output } from './output/output.ts';
import { READ_TIMEOUT_MS } from './sources/read-timeout.ts';
import { adviceIn, exitWithError, printAdvice, printMessage } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Formats:
${FORMAT_NAMES.map((name) => `  ${name.padEnd(12)}  ${FORMATS[name].title}`).join('\n')}

Examples:
  snicket dns                              # check all in the namespace
  snicket dns tenants/blue red -o json     # check two, as JSON
  snicket dns -A --format bind --wildcard  # records, with wildcards
  snicket dns blue --format windows --zone example.com
  snicket dns -f tenants.d --format hosts  # instead of a cluster
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

interface Flags extends ClusterFlags, SelectionFlags {
  readonly output: Output;
  readonly format?: FormatName;
  readonly wildcard: boolean;
  readonly ttl: number;
  readonly zone?: readonly string[];
  readonly filename?: string;
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
    .addOption(folderOption())
    .addOption(outputOption())
    .optionsGroup('Options for records:')
    .addOption(
      new Option('--format <format>', 'print records in the format of this DNS server').choices(
        FORMAT_NAMES,
      ),
    )
    .option('--wildcard', 'wildcard records *.k8s.DOMAIN and *.konnectivity.DOMAIN', false)
    .option('--ttl <seconds>', 'TTL of each record, in seconds', parseTtl, DEFAULT_TTL_SECONDS)
    .option(
      '--zone <domain>',
      'with --format windows: zone of the records; can be repeated (default: the domain of the Edge)',
      parseZones,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (named: readonly NamedExposure[] | undefined, flags: Flags, command: Command) => {
      const exposures = named ?? [];
      rejectMisplaced(exposures, flags, command);
      if (flags.filename !== undefined) {
        return runOnFolder(io, flags.filename, exposures, flags, command);
      }
      const { AccessError } = await import('../kube/access/cluster-access.ts');
      try {
        await runOnCluster(io, exposures, flags);
      } catch (error) {
        if (!(error instanceof AccessError)) throw error;
        exitWithAccessError(command, error, flags, 'its folder: -f DIR');
      }
    });
}

function rejectMisplaced(
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): void {
  for (const exposure of exposures.length === 0 ? [undefined] : exposures) {
    rejectContradictions(exposure, flags, command);
  }
  const isGiven = (flag: string) => command.getOptionValueSource(flag) === 'cli';
  if (flags.format === undefined) {
    const misplaced = FORMAT_FLAGS.find(isGiven);
    if (misplaced !== undefined) {
      exitWithError(
        command,
        `--${misplaced} requires --format`,
        `pass --format or remove --${misplaced}`,
      );
    }
    return;
  }
  if (isGiven('output')) {
    exitWithError(command, '--format and -o are mutually exclusive', 'remove one of them');
  }
  if (flags.wildcard && !FORMATS[flags.format].hasWildcards) {
    exitWithError(
      command,
      `format ${flags.format} does not support wildcards`,
      `remove --wildcard, or use one of: ${formatsWith('hasWildcards')}`,
    );
  }
}

async function runOnCluster(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: Flags,
): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [{ withErrorReporting }, chosen, { ManagementSnapshot }, { withProgress }] =
    await Promise.all([
      import('./plans/plans.ts'),
      import('./sources/selected-exposures.ts'),
      import('../management/management-snapshot.ts'),
      import('./output/progress.ts'),
    ]);
  const { client, access } = await openManagement(io, flags);
  await withErrorReporting(io, async () => {
    const reading = ManagementSnapshot.read(client, AbortSignal.timeout(READ_TIMEOUT_MS));
    const management = await withProgress(io, `reading ${client.server}`, reading);
    const choices = (exposures.length === 0 ? [undefined] : exposures).map((exposure) =>
      selectionOf(exposure, flags, access),
    );
    const meant = choices.flatMap((choice) => chosen.selectedOf(management.exposures, choice));
    if (meant.length === 0) printMessage(io, chosen.noExposureText(choices));
    await show(io, management, [...new Set(meant)], flags);
  });
}

async function runOnFolder(
  io: CommandIo,
  folder: string,
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): Promise<void> {
  rejectAccessFlags(command);
  const [{ EXIT, withErrorReporting }, { openFolder, selectedInFolder }] = await Promise.all([
    import('./plans/plans.ts'),
    import('./sources/folder-management.ts'),
  ]);
  const opened = await openFolder(io, folder, command);
  for (const fault of opened.faults) printAdvice(io, 'error', adviceIn(fault));
  await withErrorReporting(io, async () => {
    const chosen = selectedInFolder(opened, selectionsInFolder(exposures, flags));
    await show(io, opened.management, chosen, flags);
  });
  if (opened.faults.length > 0) io.exitCode = EXIT.failed;
}

async function show(
  io: CommandIo,
  management: ManagementSnapshot,
  exposures: readonly KubeObject[],
  flags: Flags,
): Promise<void> {
  const { requiredNames } = await import('./dns/required-names.ts');
  const wanted = requiredNames(exposures, management, flags.operatorNamespace);
  await (flags.format === undefined
    ? check(io, wanted, flags.output)
    : printRecords(io, wanted, flags.format, flags));
}

async function check(
  io: CommandIo,
  { names, findings }: RequiredNames,
  output: Output,
): Promise<void> {
  const [{ checkNames }, { systemLookup }, { checksTable, checksValue }, records, texts, progress] =
    await Promise.all([
      import('./dns/checks.ts'),
      import('../probe/hops/system-lookup.ts'),
      import('./dns/dns-report.ts'),
      import('./dns/records.ts'),
      import('./output/output.ts'),
      import('./output/progress.ts'),
    ]);
  const checking = checkNames(names, { lookup: systemLookup });
  const checks = await progress.withProgress(io, `waiting for ${names.length} names`, checking);
  const all = [...findings, ...records.embeddedAddressFindings(names)];
  if (output !== 'table') io.stdout.write(texts.valueText(checksValue(checks, all), output));
  else if (names.length > 0) io.stdout.write(checksTable(checks, texts.currentScreen(io)));
  for (const note of records.embeddedAddressNotes(names)) printMessage(io, `note: ${note}`);
  await report(io, all);
  const bad = checks.filter(({ state }) => state !== 'ok').length;
  if (bad === 0) return;
  io.exitCode = 1;
  printMessage(
    io,
    `${bad} of ${checks.length} ${checks.length === 1 ? 'name' : 'names'} ${bad === 1 ? 'does' : 'do'} not resolve to the Edge; to print the records: --format`,
  );
}

async function printRecords(
  io: CommandIo,
  { names, findings }: RequiredNames,
  format: FormatName,
  { wildcard, ttl, zone = [] }: Flags,
): Promise<void> {
  const { recordsOf } = await import('./dns/records.ts');
  const records = recordsOf(names, {
    format,
    hasWildcards: wildcard,
    ttlSeconds: ttl,
    zones: zone,
  });
  io.stdout.write(records.text);
  for (const note of records.notes) printMessage(io, `note: ${note}`);
  await report(io, [...findings, ...records.findings]);
}

async function report(io: CommandIo, findings: readonly NamedFinding[]): Promise<void> {
  for (const finding of findings) {
    const { severity, of, code, message, action } = finding;
    printAdvice(io, severity, { message: `${of}: ${code}: ${message}`, hint: action });
  }
  if (findings.some(({ severity }) => severity === 'error')) io.exitCode = 1;
}

function parseTtl(text: string): number {
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds;
  throw new InvalidArgumentError(`must be an integer from 1 to ${MAX_TTL_SECONDS}`);
}

function parseZones(text: string, before: readonly string[] = []): readonly string[] {
  const zone = text.replace(/\.$/, '').toLowerCase();
  return [...before, parsedBy(() => fieldValue(domain, zone))];
}
