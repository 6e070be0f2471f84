/**
 * All codes with their meaning and fix, from the catalogs.
 */
import { FINDING_GROUPS } from '../../api/finding-codes/catalog.ts';
import type { FindingEntry } from '../../api/finding-codes/entry.ts';
import { REASON_GROUPS, type ReasonEntry } from '../../api/finding-codes/reasons.ts';
import {
  HOP_CODES,
  HOPS,
  NODE_HOPS,
  SKIP_CODES,
  type CodeEntry,
  type HopName,
} from '../../probe/codes.ts';
import {
  EDGE_CHECKS,
  EDGE_CODES,
  EDGE_SKIP_CODES,
  type EdgeCodeEntry,
} from '../../probe/edge-conformance/codes.ts';

/** What a code means. */
export interface Explanation {
  readonly code: string;
  /** What reports the code, such as `Hop dns`. */
  readonly group: string;
  /** `Finding`: an error or a warning, depending on the case. `Normal`, `Warning`: of a reason, as of events. */
  readonly severity: 'Pass' | 'Warn' | 'Fail' | 'Skip' | 'Finding' | 'Normal' | 'Warning';
  /** A sentence. */
  readonly meaning: string;
  /** A sentence. Absent: there is nothing to do. */
  readonly action?: string | undefined;
}

/** Returns all explanations, grouped, in the order of the reference documentation. */
export function explanations(): readonly Explanation[] {
  return [
    ...[...HOPS, ...NODE_HOPS].flatMap(ofHop),
    ...skipped('Skipped hops', SKIP_CODES),
    ...FINDING_GROUPS.flatMap(([title, entries]) => ofFindings(title.replaceAll('`', ''), entries)),
    ...REASON_GROUPS.flatMap(([title, entries]) => ofReasons(title, entries)),
    ...EDGE_CHECKS.flatMap(ofCheck),
    ...skipped('Skipped checks of an edge', EDGE_SKIP_CODES),
  ];
}

function ofHop(hop: HopName): readonly Explanation[] {
  return Object.entries<CodeEntry>(HOP_CODES)
    .filter(([, entry]) => entry.hop === hop)
    .map(([code, { state, meaning, action }]) => ({
      code,
      group: `Hop ${hop}`,
      severity: state === 'Pass' && action !== undefined ? 'Warn' : state,
      ...textsOf(meaning, action),
    }));
}

function ofCheck(check: string): readonly Explanation[] {
  return Object.entries<EdgeCodeEntry>(EDGE_CODES)
    .filter(([, entry]) => entry.check === check)
    .map(([code, { state, meaning, action }]) => ({
      code,
      group: `Edge check ${check}`,
      severity: state,
      ...textsOf(meaning, action),
    }));
}

function ofFindings(
  title: string,
  entries: Readonly<Record<string, FindingEntry>>,
): readonly Explanation[] {
  return Object.entries(entries).map(([code, { meaning, action }]) => ({
    code,
    group: `Findings: ${title}`,
    severity: 'Finding',
    ...textsOf(meaning, action),
  }));
}

function ofReasons(
  group: string,
  entries: Readonly<Record<string, ReasonEntry>>,
): readonly Explanation[] {
  return Object.entries(entries).map(([code, { severity, meaning, action }]) => ({
    code,
    group,
    severity,
    ...textsOf(meaning, action),
  }));
}

function skipped(
  group: string,
  entries: Readonly<Record<string, { readonly meaning: string }>>,
): readonly Explanation[] {
  return Object.entries(entries).map(([code, { meaning }]) => ({
    code,
    group,
    severity: 'Skip',
    ...textsOf(meaning),
  }));
}

/** Returns the texts of an entry. Words in capitals stand for the values of a message. */
function textsOf(meaning: string, action?: string): Pick<Explanation, 'meaning' | 'action'> {
  const filled = action?.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  return { meaning, action: filled };
}
