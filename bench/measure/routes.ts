/** Measures the gateway with 10,000 routes: its start, one change, and the cost of a connection. */
import { renameSync, writeFileSync } from 'node:fs';
import type { Progress } from '../../world/parts/progress.ts';
import { waitForAll } from '../../world/wait.ts';
import { costOf, loadArguments } from '../cases.ts';
import type { Lab } from '../lab/lab.ts';
import { type LoadTime, runLoad } from '../lab/load.ts';
import type { Program } from '../lab/program.ts';
import { HOST } from '../lab/environment.ts';
import { launchGateway, routesText } from '../peers/snicket.ts';
import { probeUntilRouted } from './probe.ts';

const FEW = 10;
const MANY = 10_000;

/** Warm-up for the JIT compiler. */
const WARM_UP: LoadTime = { warmUpMs: 0, durationMs: 1_500 };

/** The costs of many routes. */
export interface RouteCosts {
  readonly routes: number;
  /** From the start of the program until a connection to the last host works, with few and with many routes. */
  readonly startMs: { readonly few: number; readonly many: number };
  /** From the rename of the file until a connection to the new host works, for each change. */
  readonly changeMs: readonly number[];
  /** CPU time of a new connection with many routes, relative to few routes in the same repetition. */
  readonly lookupRatios: readonly number[];
}

/** Starts two gateways and measures {@link RouteCosts}. */
export async function measureRoutes(
  lab: Lab,
  options: {
    readonly engine: 'epoll' | 'bun';
    readonly repetitions: number;
    readonly time: LoadTime;
    readonly progress: Progress;
  },
): Promise<RouteCosts> {
  const { progress } = options;
  progress.update('routes', `a gateway with ${FEW} and one with ${MANY}`);
  const few = await startWith(lab, options.engine, hosts(FEW));
  const many = await startWith(lab, options.engine, hosts(MANY));
  try {
    const lookupRatios = await compareLookups(lab, few, many, options);
    const changeMs: number[] = [];
    for (let change = 1; change <= options.repetitions; change++) {
      const added = `added-${change}.k8s.test`;
      const text = routesText([...hosts(MANY), added], lab.environment.backendPort);
      writeFileSync(`${many.routesFile}.new`, text);
      const began = performance.now();
      renameSync(`${many.routesFile}.new`, many.routesFile);
      await probeUntilRouted(many.program.port, added, lab.signal);
      changeMs.push(performance.now() - began);
    }
    progress.done('routes', `${MANY} of them`);
    return {
      routes: MANY,
      startMs: { few: few.startMs, many: many.startMs },
      changeMs,
      lookupRatios,
    };
  } finally {
    await lab.stop(few.program);
    await lab.stop(many.program);
  }
}

/** The host of the bench comes last, so that it works only when all routes are loaded. */
function hosts(count: number): string[] {
  return [...Array.from({ length: count - 1 }, (_, index) => `t${index}.k8s.test`), HOST];
}

interface StartedGateway {
  readonly program: Program;
  readonly routesFile: string;
  readonly startMs: number;
}

async function startWith(
  lab: Lab,
  engine: 'epoll' | 'bun',
  names: readonly string[],
): Promise<StartedGateway> {
  const launch = launchGateway(lab.environment, engine, names);
  const began = performance.now();
  const [program, startMs] = await waitForAll([
    lab.start(`gateway-${names.length}`, 'tested', launch, 'plain'),
    probeUntilRouted(launch.port, HOST, lab.signal).then(() => performance.now() - began),
  ]);
  return { program, routesFile: launch.routesFile, startMs };
}

/** The difference is small, so it needs more measurements. */
const PAIRS_PER_REPETITION = 2;

async function compareLookups(
  lab: Lab,
  few: StartedGateway,
  many: StartedGateway,
  options: { readonly repetitions: number; readonly time: LoadTime },
): Promise<number[]> {
  for (const gateway of [few, many]) await connectCost(lab, gateway, WARM_UP);
  const ratios: number[] = [];
  for (let pair = 0; pair < options.repetitions * PAIRS_PER_REPETITION; pair++) {
    // The order alternates, because the second run may find a warmer machine.
    const order = pair % 2 === 0 ? [few, many] : [many, few];
    const costs = new Map<StartedGateway, number>();
    for (const gateway of order) costs.set(gateway, await connectCost(lab, gateway, options.time));
    ratios.push((costs.get(many) ?? NaN) / (costs.get(few) ?? NaN));
  }
  return ratios;
}

async function connectCost(lab: Lab, gateway: StartedGateway, time: LoadTime): Promise<number> {
  const { port, pid } = gateway.program;
  const target = { port, name: HOST, kind: 'plain', watchedPid: pid } as const;
  const counted = await runLoad(
    lab.programs.load,
    target,
    loadArguments('connect', 'plain'),
    time,
    lab.signal,
  );
  if (counted.errors > 0) throw new Error(`${counted.errors} errors with ${gateway.routesFile}`);
  return costOf('connect', counted);
}
