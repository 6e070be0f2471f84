/** The results of a run, and where they are saved. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, type Machine } from '../report/results.ts';
import type { StartCost } from './measure/cold-start.ts';
import type { ProcessUse } from './measure/process-use.ts';
import type { NewExposureTimes } from './measure/reactions.ts';
import type { RestCost } from './measure/rest.ts';
import { reportText } from './report.ts';

/** The results. Times of reactions are in milliseconds. */
export interface OperatorResults {
  readonly date: string;
  readonly machine: Omit<Machine, 'pinned'>;
  /** Fraction of the machine used by everything except the bench's own process, from 0 to 1. */
  readonly othersShare: number;
  /** Description of the management cluster. */
  readonly management: string;
  readonly tenants: number;
  readonly empty: ProcessUse;
  readonly cold: StartCost;
  readonly rest: RestCost;
  readonly fresh: NewExposureTimes;
  /** How often the operator's Lease changed its holder after the operator's first start. */
  readonly leaseTransitions: number;
  readonly drift: Readonly<Record<'slice' | 'daemonSet' | 'ingress', readonly number[]>>;
}

/** Returns the date, the machine and the parameters of a run. */
export function describeRun(
  management: string,
  tenants: number,
  share: number,
): Pick<OperatorResults, 'date' | 'machine' | 'othersShare' | 'management' | 'tenants'> {
  const { pinned: _, ...machine } = describeMachine();
  return { date: new Date().toISOString(), machine, othersShare: share, management, tenants };
}

/** Saves a run in a new folder and returns its path. */
export function saveRun(results: OperatorResults): string {
  const name = `${results.date.slice(0, 16).replace('T', '-').replace(':', '')}-operator`;
  const folder = join(import.meta.dir, '..', 'results', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(folder, 'table.md'), reportText(results));
  return folder;
}
