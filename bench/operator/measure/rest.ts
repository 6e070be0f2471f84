/** An operator while nothing changes. */
import type { AskedFor, Lab } from '../lab.ts';
import { requestsBetween, type Requests } from '../request-counts.ts';
import type { ProcessUse } from './process-use.ts';

/** What rest costs. */
export interface RestCost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** At the end. */
  readonly use: ProcessUse;
  readonly requests: AskedFor;
}

/** Watches the operator for a while. */
export async function measureRest(lab: Lab, seconds: number): Promise<RestCost> {
  const before = await lab.askedFor();
  const { cpuSeconds } = lab.operatorUse();
  await Bun.sleep(seconds * 1000);
  const use = lab.operatorUse();
  const after = await lab.askedFor();
  const between = (side: keyof AskedFor): Requests => requestsBetween(before[side], after[side]);
  return {
    ...{ seconds, use, cpuSeconds: use.cpuSeconds - cpuSeconds },
    requests: { management: between('management'), tenants: between('tenants') },
  };
}
