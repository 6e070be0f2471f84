/** What a run has found, and where it is kept. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, type Machine } from '../report/results.ts';
import type { StartCost } from './measure/cold-start.ts';
import type { ProcessUse } from './measure/process-use.ts';
import type { NewExposureTimes } from './measure/reactions.ts';
import type { RestCost } from './measure/rest.ts';
import { reportText } from './report.ts';

/** All of it. Times of reactions are in milliseconds. */
export interface OperatorResults {
  readonly date: string;
  readonly machine: Omit<Machine, 'pinned'>;
  /** How much of the machine everybody but the bench's own process used, from 0 to 1. */
  readonly othersShare: number;
  /** What the management cluster was. */
  readonly management: string;
  readonly tenants: number;
  readonly empty: ProcessUse;
  readonly cold: StartCost;
  readonly rest: RestCost;
  readonly fresh: NewExposureTimes;
  /** How often the operator's Lease changed hands after its first start. */
  readonly leaseTransitions: number;
  readonly drift: Readonly<Record<'slice' | 'daemonSet' | 'ingress', readonly number[]>>;
}

/** Where and when. */
export function describeRun(
  management: string,
  tenants: number,
  share: number,
): Pick<OperatorResults, 'date' | 'machine' | 'othersShare' | 'management' | 'tenants'> {
  const { pinned: _, ...machine } = describeMachine();
  return { date: new Date().toISOString(), machine, othersShare: share, management, tenants };
}

/** Saves a run in a folder of its own, and returns its path. */
export function saveRun(results: OperatorResults): string {
  const name = `${results.date.slice(0, 16).replace('T', '-').replace(':', '')}-operator`;
  const folder = join(import.meta.dir, '..', 'results', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(folder, 'table.md'), reportText(results));
  return folder;
}
