/**
 * Generates the reference of all codes, docs/reference/codes.md, from the catalogs.
 */
import { FINDING_GROUPS } from '../../api/finding-codes/catalogue.ts';
import type { FindingEntry } from '../../api/finding-codes/entry.ts';
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

/** Path of the page in the repository. */
export const CODES_PAGE = 'docs/reference/codes.md';

const NOTICE =
  'Made by `make generate` from src/probe/codes.ts, src/probe/edge-conformance/codes.ts and src/api/finding-codes; edit those.';

const INTRODUCTION = `# Codes

Everything that Snicket can say of a path has a code, which never changes its meaning. The same code is in the table of
[\`snicket doctor\`](../tasks/doctor.md), in its JSON, as \`reason\` of a condition or a hop in the status of an Exposure, in events
and in logs. The message beside it has the values; what to do is said there too, with them. Words in capitals stand for
such values here.

\`snicket explain CODE\` prints the entry of a code, without a network.

A hop passes, fails, or is skipped. A hop that passes and has something to do is a warning: \`Warn\`.`;

/** Returns the text of the page. */
export function codesReference(): string {
  const sections = [
    INTRODUCTION,
    '## Hops of the way to a tenant',
    ...HOPS.map(hopSection),
    '## Hops of a node\n\nTried by `snicket doctor --from-worker` alone.',
    ...NODE_HOPS.map(hopSection),
    `## Hops that were skipped\n\n${skipTable(SKIP_CODES)}`,
    '## Findings\n\nWhat is wrong, or worth knowing, before anything is tried: hop `plan` of `snicket doctor`, and what `render`, `diff` and `dns` say. An error fails, a warning does not.',
    ...FINDING_GROUPS.map(([title, entries]) => `### ${title}\n\n${findingTable(entries)}`),
    '## Checks of an edge\n\nBy [`snicket doctor edge`](../tasks/doctor-edge.md).',
    ...EDGE_CHECKS.map(checkSection),
    `### Checks that were skipped\n\n${skipTable(EDGE_SKIP_CODES)}`,
  ];
  return `<!-- ${NOTICE} -->\n\n${sections.join('\n\n')}\n`;
}

function hopSection(hop: HopName): string {
  const rows = Object.entries<CodeEntry>(HOP_CODES)
    .filter(([, entry]) => entry.hop === hop)
    .map(([code, entry]) => {
      const isWarning = entry.state === 'Pass' && entry.action !== undefined;
      return codeRow(code, { ...entry, state: isWarning ? 'Warn' : entry.state });
    });
  return `### ${hop}\n\n${table(['code', 'state', 'meaning', 'what to do'], rows)}`;
}

function checkSection(check: string): string {
  const rows = Object.entries<EdgeCodeEntry>(EDGE_CODES)
    .filter(([, entry]) => entry.check === check)
    .map(([code, entry]) => codeRow(code, entry));
  return `### ${check}\n\n${table(['code', 'state', 'meaning', 'what to do'], rows)}`;
}

function codeRow(
  code: string,
  { state, meaning, action = '' }: Pick<EdgeCodeEntry, 'state' | 'meaning' | 'action'>,
): readonly string[] {
  return [`\`${code}\``, state, meaning, filledIn(action)];
}

function skipTable(entries: Readonly<Record<string, { readonly meaning: string }>>): string {
  const rows = Object.entries(entries).map(([code, { meaning }]) => [`\`${code}\``, meaning]);
  return table(['code', 'meaning'], rows);
}

function findingTable(entries: Readonly<Record<string, FindingEntry>>): string {
  const rows = Object.entries(entries).map(([code, { meaning, action }]) => [
    ...[`\`${code}\``, meaning, action],
  ]);
  return table(['code', 'meaning', 'what to do'], rows);
}

function filledIn(action: string): string {
  return action.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${'---|'.repeat(headings.length)}`;
  return [line(headings), rule, ...rows.map(line)].join('\n');
}
