/** Formats the results as Markdown, aligned for terminals. */
import { LOADS } from '../cases.ts';
import { type Cell, comparisonsOf } from './comparison.ts';
import type { Results } from './results.ts';
import { spreadOf } from './statistics.ts';
import { type GoalResult, goalResults } from './targets.ts';

/** Returns the report. */
export function reportText(results: Results): string {
  return [
    `# Bench of ${results.date.slice(0, 10)}, ${results.mode}`,
    machineText(results),
    ...comparisonTexts(results),
    ...memoryTexts(results),
    ...routeTexts(results),
    `## Goals\n\n${goalsTable(goalResults(results))}`,
    `## Versions\n\n${markdownTable([['peer', 'version'], ...Object.entries(results.versions)])}`,
    ...failureTexts(results),
  ]
    .join('\n\n')
    .concat('\n');
}

function machineText({ machine, othersShare, samples }: Results): string {
  const repetitions = Math.max(0, ...samples.map((sample) => sample.repetition));
  return [
    `${machine.cores} cores (${machine.processor}), Linux ${machine.kernel}, ${repetitions} repetitions,`,
    machine.pinned ? 'the proxy alone on CPU 1, all else on CPU 0;' : 'nothing pinned;',
    `others used ${(othersShare * 100).toFixed(0)}% of the machine meanwhile.`,
  ].join(' ');
}

function comparisonTexts(results: Results): string[] {
  return comparisonsOf(results).map(({ title, base, columns, rows }) => {
    const header = [
      'peer',
      ...columns.map((column) => `${column.title}, ${LOADS[column.load].unit}`),
    ];
    const lines = rows.map(({ peer, cells }) => [peer, ...cells.map((cell) => cellText(cell))]);
    const legend = `Processor time as a ratio to ${base}: median [quartiles], and in units.`;
    return `## ${title}\n\n${legend}\n\n${markdownTable([header, ...lines])}`;
  });
}

/** Formats a cell as `0.86 [0.82-0.88] 94.1`, or as a failure. */
export function cellText({ outcome }: Cell): string {
  switch (outcome.kind) {
    case 'measured': {
      const { median, low, high } = outcome.ratio;
      const cost = outcome.cost.median;
      const units = cost < 1000 ? cost.toPrecision(3) : cost.toFixed(0);
      return `${median.toFixed(2)} [${low.toFixed(2)}-${high.toFixed(2)}] ${units}`;
    }
    case 'failed':
      return `failed, ${outcome.errors} errors`;
    case 'absent':
      return '-';
  }
}

function memoryTexts(results: Results): string[] {
  if (results.idle.length === 0) return [];
  const rows = results.idle.map((idle) => [
    idle.peer,
    idle.kind,
    `${(idle.restBytes / 1e6).toFixed(1)} MB`,
    `${(idle.restOwnBytes / 1e6).toFixed(1)} MB`,
    `${(idle.idleBytes / 1e6).toFixed(1)} MB`,
    String(idle.connections),
    `${(idle.bytesPerConnection / 1024).toFixed(2)} KB`,
  ]);
  const header = [
    'peer',
    'kind',
    'at rest',
    'its own',
    'with idle connections',
    'connections',
    'each',
  ];
  return [`## Resident memory\n\n${markdownTable([header, ...rows])}`];
}

function routeTexts({ routes }: Results): string[] {
  if (!routes) return [];
  const change = spreadOf(routes.changeMs);
  const lookup = spreadOf(routes.lookupRatios);
  const rows = [
    ['', 'figure'],
    ['start until the last route works', `${routes.startMs.many.toFixed(0)} ms`],
    ['the same with 10 routes', `${routes.startMs.few.toFixed(0)} ms`],
    [
      'one change live',
      `${change.median.toFixed(0)} ms [${change.low.toFixed(0)}-${change.high.toFixed(0)}]`,
    ],
    [
      'new connection, ratio to 10 routes',
      `${lookup.median.toFixed(2)} [${lookup.low.toFixed(2)}-${lookup.high.toFixed(2)}]`,
    ],
  ];
  return [`## ${routes.routes.toLocaleString('en')} routes\n\n${markdownTable(rows)}`];
}

/** Returns the table of all goals that have a figure or a failure. */
export function goalsTable(results: readonly GoalResult[]): string {
  const shownResults = results.filter(({ measured, failure }) => measured !== undefined || failure);
  const rows = shownResults.map((result) => [
    result.goal,
    `<= ${figure(result.limit, result.unit)}`,
    result.measured === undefined ? '-' : figure(result.measured, result.unit),
    assessment(result),
  ]);
  const remaining = results.length - shownResults.length;
  const table = markdownTable([['goal', 'limit', 'measured', ''], ...rows]);
  return remaining === 0
    ? table
    : `${table}\n\nThis run measured nothing for ${remaining} more goals.`;
}

function assessment({ limit, measured, failure }: GoalResult): string {
  if (measured === undefined) return `failed: ${failure}`;
  return measured <= limit
    ? 'met'
    : `missed by ${(((measured - limit) / limit) * 100).toFixed(0)}%`;
}

function figure(value: number, unit: string): string {
  if (unit === 'ratio') return value.toFixed(2);
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ${unit}`;
}

function failureTexts({ failures }: Results): string[] {
  const lines = Object.entries(failures).map(
    ([name, reason]) => `- ${name}: ${reason.replaceAll(/\s+/g, ' ')}`,
  );
  return lines.length === 0 ? [] : [`## Not measured\n\n${lines.join('\n')}`];
}

/** Returns a Markdown table. The first row is the header. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [header, ...body] = rows;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(header ?? []), rule, ...body.map(line)].join('\n');
}
