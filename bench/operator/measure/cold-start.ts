/** Measures a cold start: an operator that starts with Exposures for which nothing is done yet. */
import { totalsBetween, type RequestTotals, type Block, type Lab } from '../lab.ts';
import { LongestBlock } from './longest-block.ts';
import type { ProcessUse } from './process-use.ts';
import type { Stage } from './exposures.ts';

/** The cost of a cold start. */
export interface StartCost {
  /** From the start of the process until the last Exposure is routed and its workers are ready. */
  readonly seconds: number;
  /** Until the last Exposure is Ready. Absent on a testbed without DNS. */
  readonly readySeconds?: number;
  /** Resource use at the end of `seconds`. */
  readonly use: ProcessUse;
  /** The longest block of the event loop. */
  readonly longestBlock: Block;
  /** Requests during the whole start. */
  readonly requests: RequestTotals;
}

/** Measures an operator without any Exposure. */
export async function measureEmpty(lab: Lab, settleMs: number): Promise<ProcessUse> {
  await lab.startOperator();
  await Bun.sleep(settleMs);
  const use = lab.operatorUse();
  await lab.endOperator();
  return use;
}

/** Starts the operator and waits for all Exposures. The operator keeps running. */
export async function measureColdStart(
  lab: Lab,
  {
    last,
    deadlineMs,
    onProgress,
  }: {
    readonly last: Stage;
    readonly deadlineMs: number;
    readonly onProgress: (message: string) => void;
  },
): Promise<StartCost> {
  const { exposures, tenants } = lab;
  const before = await lab.requestTotals();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const ticker = setInterval(() => {
    try {
      onProgress(progressText(lab, last));
    } catch (error) {
      reject(error);
    }
  }, 2000);
  try {
    const beginMs = Date.now();
    await lab.startOperator();
    using block = new LongestBlock(lab);
    const reached = async (stage: Stage) =>
      Promise.race([exposures.untilReached(stage, tenants.length, deadlineMs), failed]);
    const [routedMs, workersReadyMs] = await Promise.all([
      reached('routed'),
      reached('WorkersReady'),
    ]);
    const use = lab.operatorUse();
    const readyMs = last === 'Ready' ? await reached('Ready') : undefined;
    const after = await lab.requestTotals();
    return {
      seconds: (Math.max(routedMs, workersReadyMs) - beginMs) / 1000,
      ...(readyMs !== undefined && { readySeconds: (readyMs - beginMs) / 1000 }),
      use,
      longestBlock: await block.longest(),
      requests: totalsBetween(before, after),
    };
  } finally {
    clearInterval(ticker);
  }
}

/** Returns the progress as text. @throws if the operator has ended */
function progressText(lab: Lab, last: Stage): string {
  const counts = (['routed', 'WorkersReady', 'Ready'] as const).map(
    (stage) => `${lab.exposures.count(stage)} ${stage}`,
  );
  const { residentBytes, cpuSeconds } = lab.operatorUse();
  const use = `${(residentBytes / 1e6).toFixed(0)} MB, ${cpuSeconds.toFixed(1)} s`;
  return `${counts.join(', ')}; ${use}; ${lab.exposures.obstacles(last)}`;
}
