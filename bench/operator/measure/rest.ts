/** An operator while nothing changes. */
import { askedBetween, type AskedFor, type Lab } from '../lab.ts';
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
  return {
    ...{ seconds, use, cpuSeconds: use.cpuSeconds - cpuSeconds },
    requests: askedBetween(before, after),
  };
}
