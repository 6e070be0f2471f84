/**
 * All codes with their meaning and fix, from the catalogs.
 */
import { FINDING_GROUPS } from '../../api/finding-codes/catalog.ts';
import type { FindingEntry } from '../../api/finding-codes/entry.ts';
import { REASON_GROUPS, type ReasonEntry } from '../../api/finding-codes/reasons.ts';
import { EDGE_CHECKS, EVERYWHERE, RESULT_GROUPS, type CodeEntry } from '../../probe/codes.ts';

/** What a code means. */
export interface Explanation {
  readonly code: string;
  /** The topic in the list of all codes. */
  readonly group: string;
  /** The hops and checks that report the code, or the kind of objects that have it. */
  readonly reportedBy: string;
  /** `Finding`: an error or a warning, depending on the case. `Normal`, `Warning`: of a reason, as of events. */
  readonly severity: 'Pass' | 'Warn' | 'Fail' | 'Skip' | 'Finding' | 'Normal' | 'Warning';
  /** A sentence. */
  readonly meaning: string;
  /** A sentence. Absent: there is nothing to do. */
  readonly action?: string | undefined;
}

/** Where findings appear: they are about the spec and the control plane, and no probe reports them. */
const FINDING_REPORTERS = 'Findings (hop plan of doctor, render, diff, expose, conditions, events)';

/** Returns all explanations, grouped, in the order of the reference documentation. */
export function explanations(): readonly Explanation[] {
  const all = [
    ...RESULT_GROUPS.flatMap(([group, entries]) =>
      explained<CodeEntry>(group, entries, ({ of, state }) => [reportersText(of), state]),
    ),
    ...FINDING_GROUPS.flatMap(([title, entries]) =>
      explained<FindingEntry>(`Findings: ${title}`, entries, () => [FINDING_REPORTERS, 'Finding']),
    ),
    ...REASON_GROUPS.flatMap(([title, entries]) =>
      explained<ReasonEntry>(title, entries, ({ severity }) => [title, severity]),
    ),
  ];
  // Some codes are those of hops and of findings.
  return [...Map.groupBy(all, ({ code }) => code).values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : { ...first, reportedBy: [first, ...others].map((one) => one.reportedBy).join('; ') },
  );
}

function explained<Entry extends Pick<CodeEntry, 'meaning' | 'action'>>(
  group: string,
  entries: Readonly<Record<string, Entry>>,
  kindOf: (entry: Entry) => readonly [string, Explanation['severity']],
): readonly Explanation[] {
  return Object.entries(entries).map(([code, entry]) => {
    const [reportedBy, severity] = kindOf(entry);
    // Words in capitals stand for the values of a message.
    const action = entry.action?.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
    return { code, group, reportedBy, severity, meaning: entry.meaning, action };
  });
}

/** Returns the hops and checks as a text: `Hops sni, konnectivity; edge check passthrough`. */
function reportersText(of: CodeEntry['of']): string {
  if (of.length === EVERYWHERE.length) return 'All hops and edge checks';
  const isCheck = (one: string) => (EDGE_CHECKS as readonly string[]).includes(one);
  const hops = named(
    'hop',
    of.filter((one) => !isCheck(one)),
  );
  const checks = named('edge check', of.filter(isCheck));
  const text = [...hops, ...checks].join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function named(kind: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${kind}${names.length > 1 ? 's' : ''} ${names.join(', ')}`];
}
