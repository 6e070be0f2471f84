/** Groups peers into comparisons, in order. */
import { ALL_CASES, type Kind, type Load, LOADS, type Role } from '../cases.ts';
import type { Results } from './results.ts';
import { outcomeOf, type Outcome } from './statistics.ts';
import { limitOf } from './targets.ts';

/** One table, or one part of the plot. */
export interface Comparison {
  readonly title: string;
  readonly base: string;
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly peer: string; readonly cells: readonly Cell[] }[];
}

/** A case, as a column. */
export interface Column {
  readonly caseId: string;
  readonly load: Load;
  readonly title: string;
}

/** The result of a peer in a case. */
export interface Cell {
  readonly outcome: Outcome;
  /** Upper limit of the ratio, if there is a goal. */
  readonly limit: number | undefined;
}

const COMPARISONS: readonly { title: string; role: Role; kind: Kind; base: string }[] = [
  { title: 'Gateway, plain bytes behind a hello', role: 'gateway', kind: 'plain', base: 'haproxy' },
  { title: 'Gateway, real TLS', role: 'gateway', kind: 'tls', base: 'haproxy' },
  {
    title: 'Proxy on a worker, plain bytes behind a hello',
    role: 'proxy',
    kind: 'plain',
    base: 'haproxy-passthrough',
  },
  {
    title: 'Proxy on a worker, real TLS, against HAProxy passing through',
    role: 'proxy',
    kind: 'tls',
    base: 'haproxy-passthrough',
  },
  {
    title: 'Proxy on a worker, real TLS, against HAProxy terminating',
    role: 'proxy',
    kind: 'tls',
    base: 'haproxy-terminate',
  },
];

/** Returns all comparisons for which the run has data. */
export function comparisonsOf(results: Results): Comparison[] {
  const measured = new Set(results.samples.map((sample) => `${sample.peer} ${sample.case}`));
  const peers = [...new Set(results.samples.map((sample) => sample.peer))];
  return COMPARISONS.flatMap(({ title, role, kind, base }) => {
    const columns = ALL_CASES.filter(
      (benchCase) =>
        benchCase.role === role &&
        benchCase.kind === kind &&
        measured.has(`${base} ${benchCase.id}`),
    ).map(({ id, load }) => ({ caseId: id, load, title: LOADS[load].title }));
    const rows = inOrder(peers, results)
      .filter((peer) => columns.some(({ caseId }) => measured.has(`${peer} ${caseId}`)))
      .map((peer) => ({
        peer,
        cells: columns.map(({ caseId }) => ({
          outcome: outcomeOf(results.samples, { peer, base, case: caseId }),
          limit: limitOf(peer, base, caseId),
        })),
      }));
    return columns.length === 0 ? [] : [{ title, base, columns, rows }];
  });
}

/** Sorts peers by the order in which they were started, not by that of their samples. */
function inOrder(peers: readonly string[], results: Results): string[] {
  const order = Object.keys(results.versions);
  return peers.toSorted((left, right) => order.indexOf(left) - order.indexOf(right));
}
