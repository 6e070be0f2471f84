/**
 * Results of name checks, as a table and as a value for JSON and YAML.
 */
import { tableText, type Colour, type Screen } from '../output/output.ts';
import type { NameCheck, NameState } from './checks.ts';
import { destinationText } from './destination.ts';
import { recordSets } from './entries.ts';
import { selfAnswering } from './self-answering.ts';
import type { NamedFinding } from './wanted-names.ts';

const COLOURS: Readonly<Record<NameState, Colour>> = {
  ok: 'green',
  missing: 'red',
  wrong: 'red',
  unknown: 'yellow',
};

/** Returns the results as a table. */
export function checksTable(checks: readonly NameCheck[], screen: Screen): string {
  const rows = checks.map(({ name, state, found }) => [
    ...[name.exposure, name.host],
    name.to === undefined ? '?' : destinationText(name.to),
    found.length === 0 ? '-' : found.join(', '),
    { text: state, colour: COLOURS[state] },
  ]);
  return tableText(['EXPOSURE', 'HOST', 'SHOULD LEAD TO', 'LEADS TO', 'STATE'], rows, screen);
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
      needsRecord: selfAnswering(name.host) === undefined,
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
