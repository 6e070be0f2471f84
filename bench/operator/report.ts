/** Formats the results as Markdown, aligned for terminals. */
import { markdownTable } from '../report/table.ts';
import { total, writesIn, type Requests } from './request-counts.ts';
import type { OperatorResults } from './results.ts';

/** The goals of this project. */
const GOALS = {
  startCpuMs: 20,
  baseMb: 70,
  kbPerTenant: 60,
  restCpuMs: 1,
  blockMs: 100,
  routedMs: 500,
} as const;

/** Returns the report. */
export function reportText(results: OperatorResults): string {
  const { date, tenants, management, machine } = results;
  return [
    `# Operator bench of ${date.slice(0, 10)}: ${tenants} tenants`,
    `${management}; ${machine.cores} cores (${machine.processor}), Linux ${machine.kernel}.`,
    markdownTable([['', 'goal', 'measured'], ...rows(results)]),
    `## Requests for each tenant\n\n${markdownTable(requestRows(results))}`,
  ]
    .join('\n\n')
    .concat('\n');
}

function rows(results: OperatorResults): readonly (readonly string[])[] {
  const { tenants, empty, cold, rest, fresh, drift, leaseTransitions } = results;
  const goalMb = GOALS.baseMb + (tenants * GOALS.kbPerTenant) / 1000;
  const restMinutes = rest.seconds / 60;
  const perTenantKb = (rest.use.residentBytes - empty.residentBytes) / tenants / 1000;
  return [
    ['cold start, until the last tenant is ready', '', `${cold.seconds.toFixed(0)} s`],
    [
      'cold start, CPU time per tenant',
      `${GOALS.startCpuMs} ms`,
      `${((cold.use.cpuSeconds * 1000) / tenants).toFixed(1)} ms`,
    ],
    ['memory with no Exposure', '', megabytes(empty.residentBytes)],
    ['memory after the cold start', `${goalMb.toFixed(0)} MB`, megabytes(cold.use.residentBytes)],
    ['memory at rest', `${goalMb.toFixed(0)} MB`, megabytes(rest.use.residentBytes)],
    ['memory at rest per tenant', `${GOALS.kbPerTenant} KB`, `${perTenantKb.toFixed(0)} KB`],
    [
      'CPU time at rest per tenant and minute',
      `${GOALS.restCpuMs} ms`,
      `${((rest.cpuSeconds * 1000) / tenants / restMinutes).toFixed(2)} ms`,
    ],
    [
      'writes at rest, without Leases',
      '0',
      `${total(writesIn(rest.requests.management)) + total(writesIn(rest.requests.tenants))}`,
    ],
    [
      'longest event-loop block: cold start, rest',
      `${GOALS.blockMs} ms`,
      milliseconds(cold.longestBlock.seconds, rest.longestBlock.seconds),
    ],
    [
      'the same, CPU time of the event loop',
      `${GOALS.blockMs} ms`,
      milliseconds(cold.longestBlock.busySeconds, rest.longestBlock.busySeconds),
    ],
    ['Lease lost', '0', `${leaseTransitions}`],
    [
      'new Exposure routed: median, slowest',
      `${GOALS.routedMs} ms`,
      `${median(fresh.routed)}, ${Math.max(...fresh.routed)} ms`,
    ],
    ['new Exposure served by the gateway: median', '', `${median(fresh.served)} ms`],
    ['new Exposure, workers ready: median', '', `${median(fresh.workersReady)} ms`],
    [
      'drift repaired, slowest: slice, DaemonSet, Ingress',
      '',
      `${[drift.slice, drift.daemonSet, drift.ingress].map((times) => Math.max(...times).toFixed(0)).join(', ')} ms`,
    ],
  ];
}

/** Returns the requests per tenant, the most frequent first. */
function requestRows({ tenants, cold, rest }: OperatorResults): readonly (readonly string[])[] {
  const requestLines = (['management', 'tenants'] as const).flatMap((side) => {
    const [atStart, atRest] = [cold.requests[side], rest.requests[side]];
    const names = [...new Set([...Object.keys(atStart), ...Object.keys(atRest)])];
    const perTenant = (requests: Requests, name: string) => (requests[name] ?? 0) / tenants;
    return names
      .toSorted((a, b) => perTenant(atStart, b) - perTenant(atStart, a))
      .filter((name) => perTenant(atStart, name) + perTenant(atRest, name) >= 0.01)
      .map((name) => [
        ...[side, name],
        ...[perTenant(atStart, name).toFixed(2), perTenant(atRest, name).toFixed(2)],
      ]);
  });
  return [['cluster', 'request', 'cold start', `in ${rest.seconds} s at rest`], ...requestLines];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function milliseconds(...seconds: readonly number[]): string {
  return `${seconds.map((value) => (value * 1000).toFixed(0)).join(', ')} ms`;
}

function median(values: readonly number[]): string {
  return (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN).toFixed(0);
}
