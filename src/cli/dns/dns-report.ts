/**
 * Results of name checks, as a table and as a value for JSON and YAML.
 */
import { stateCell, tableText, type Screen, type StateKind } from '../output/output.ts';
import type { NameCheck, NameState } from './checks.ts';
import { destinationText } from './destination.ts';
import { recordSets } from './entries.ts';
import { embeddedAddress } from './embedded-address.ts';
import type { NamedFinding } from './required-names.ts';

const KINDS: Readonly<Record<NameState, StateKind>> = {
  ok: 'pass',
  missing: 'fail',
  wrong: 'fail',
  unknown: 'warn',
};

/** Returns the results as a table. */
export function checksTable(checks: readonly NameCheck[], screen: Screen): string {
  const rows = checks.map(({ name, state, found }) => [
    ...[name.exposure, name.host],
    name.to === undefined ? '?' : destinationText(name.to),
    found.length === 0 ? '-' : found.join(', '),
    stateCell(state, KINDS[state]),
  ]);
  return tableText(['EXPOSURE', 'HOST', 'EXPECTED', 'ACTUAL', 'STATE'], rows, screen);
}

/** Returns the results and findings as a value for JSON and YAML. */
export function checksValue(
  checks: readonly NameCheck[],
  findings: readonly NamedFinding[],
): object {
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
