/**
 * Checks the DNS names of the chosen Exposures, or prints records for them.
 */
import type { Command } from 'commander';
import { systemLookup } from '../../probe/hops/system-lookup.ts';
import type { DnsFlags } from '../dns.ts';
import type { NamedExposure } from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { CommandError, EXIT, printAdvice, printMessage } from '../output/messages.ts';
import {
  currentScreen,
  stateCell,
  tableText,
  valueText,
  type Output,
  type Screen,
  type StateKind,
} from '../output/output.ts';
import { withProgress } from '../output/progress.ts';
import { checkNames, type NameCheck, type NameState } from './checks.ts';
import { destinationText } from './destination.ts';
import { dnsSource } from './dns-source.ts';
import { embeddedAddress } from './embedded-address.ts';
import { recordSets } from './entries.ts';
import { embeddedAddressFindings, embeddedAddressNotes, recordsOf } from './records.ts';
import { requiredNames, type NamedFinding, type RequiredNames } from './required-names.ts';

/** Runs the command, and sets the exit code if a name is missing or wrong. */
export async function runDns(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: DnsFlags,
  command: Command,
): Promise<void> {
  const source = await dnsSource(io, exposures, flags, command);
  if (source === undefined) return;
  const { names, findings: found } = requiredNames(source.chosen, {
    management: source.management,
    namespace: flags.operatorNamespace,
    addresses: flags.address,
  });
  if (flags.address !== undefined) rejectSeveralEdges(names);
  const required = { names, findings: [...source.findings, ...found] };
  const { format, wildcard, ttl, zone = [] } = flags;
  if (format === undefined) return check(io, required, flags.output);
  const options = { format, hasWildcards: wildcard, ttlSeconds: ttl, zones: zone };
  const { text, notes, findings } = recordsOf(required.names, options);
  io.stdout.write(text);
  for (const note of notes) printMessage(io, `note: ${note}`);
  report(io, [...required.findings, ...findings]);
}

function rejectSeveralEdges(names: RequiredNames['names']): void {
  const edges = [...new Set(names.map(({ edge }) => edge))];
  if (edges.length < 2) return;
  throw new CommandError(
    `--address requires Exposures of one Edge, but they have ${edges.join(', ')}`,
    'name Exposures of one Edge',
  );
}

async function check(
  io: CommandIo,
  { names, findings }: RequiredNames,
  output: Output,
): Promise<void> {
  const checking = checkNames(names, { lookup: systemLookup });
  const checks = await withProgress(io, `waiting for ${names.length} names`, checking);
  const all = [...findings, ...embeddedAddressFindings(names)];
  if (output !== 'table') io.stdout.write(valueText(checksValue(checks, all), output));
  else if (names.length > 0) io.stdout.write(checksTable(checks, currentScreen(io)));
  for (const note of embeddedAddressNotes(names)) printMessage(io, `note: ${note}`);
  report(io, all);
  const bad = checks.filter(({ state }) => state !== 'ok').length;
  if (bad === 0) return;
  io.exitCode ??= EXIT.wrong;
  printMessage(
    io,
    `${bad} of ${checks.length} ${checks.length === 1 ? 'name' : 'names'} ${bad === 1 ? 'does' : 'do'} not resolve to the Edge; to print the records: --format`,
  );
}

function report(io: CommandIo, findings: readonly NamedFinding[]): void {
  for (const { severity, of, code, message, action } of findings) {
    printAdvice(io, severity, { message: `${of}: ${code}: ${message}`, hint: action });
  }
  if (findings.some(({ severity }) => severity === 'error')) io.exitCode ??= EXIT.wrong;
}

const KINDS: Readonly<Record<NameState, StateKind>> = {
  ok: 'pass',
  missing: 'fail',
  wrong: 'fail',
  unknown: 'warn',
};

/** Returns the results as a table. */
function checksTable(checks: readonly NameCheck[], screen: Screen): string {
  const rows = checks.map(({ name, state, found }) => [
    ...[name.exposure, name.host],
    name.to === undefined ? '?' : destinationText(name.to),
    found.length === 0 ? '-' : found.join(', '),
    stateCell(state, KINDS[state]),
  ]);
  return tableText(['EXPOSURE', 'HOST', 'EXPECTED', 'ACTUAL', 'STATE'], rows, screen);
}

/** Returns the results and findings as a value for JSON and YAML. */
function checksValue(checks: readonly NameCheck[], findings: readonly NamedFinding[]): object {
  return {
    names: checks.map(({ name, state, found, code, message, action }) => ({
      exposure: name.exposure,
      edge: name.edge,
      host: name.host,
      state,
      needsRecord: embeddedAddress(name.host) === undefined,
      records: name.to === undefined ? [] : recordSets({ to: name.to }),
      found,
      code,
      message,
      ...(action !== undefined && { action }),
    })),
    findings: findings.map(({ of, code, severity, message, action }) => ({
      of,
      code,
      severity,
      message,
      action,
    })),
  };
}
