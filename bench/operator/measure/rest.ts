/** Measures an operator while nothing changes. */
import { totalsBetween, type RequestTotals, type Block, type Lab } from '../lab.ts';
import { LongestBlock } from './longest-block.ts';
import type { ProcessUse } from './process-use.ts';

/** The cost of an idle operator. */
export interface RestCost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Resource use at the end. */
  readonly use: ProcessUse;
  /** The longest block of the event loop. */
  readonly longestBlock: Block;
  readonly requests: RequestTotals;
}

/** Measures the operator for this time. */
export async function measureRest(lab: Lab, seconds: number): Promise<RestCost> {
  using block = new LongestBlock(lab);
  const before = await lab.requestTotals();
  const { cpuSeconds } = lab.operatorUse();
  await Bun.sleep(seconds * 1000);
  const use = lab.operatorUse();
  const after = await lab.requestTotals();
  return {
    seconds,
    use,
    cpuSeconds: use.cpuSeconds - cpuSeconds,
    longestBlock: await block.longest(),
    requests: totalsBetween(before, after),
  };
}
