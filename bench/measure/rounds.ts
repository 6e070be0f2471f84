/**
 * Measures the CPU time per unit of work of all peers.
 *
 * The speed of a machine varies from minute to minute. Therefore all peers run at the same time, each repetition of a
 * case measures every peer once in random order, and only figures of the same repetition are compared.
 */
import type { Progress } from '../../world/parts/progress.ts';
import { type Case, costOf, type Load, loadArguments } from '../cases.ts';
import type { Lab } from '../lab/lab.ts';
import {
  type LoadResult,
  LoadError,
  type LoadTarget,
  type LoadTime,
  runLoad,
} from '../lab/load.ts';
import type { Program } from '../lab/program.ts';
import { HOST } from '../lab/environment.ts';
import type { Peer } from '../peers/peer.ts';

/** One measurement. */
export interface Sample {
  readonly peer: string;
  readonly case: string;
  readonly repetition: number;
  /** CPU time per unit of the case's load. 0 if there were errors. */
  readonly cost: number;
  readonly errors: number;
  readonly perSecond: number;
  readonly latencyMedianUs: number;
  readonly latency99Us: number;
}

/** A running peer. */
export interface RunningPeer {
  readonly peer: Peer;
  readonly program: Program;
}

/** Warm-up time in milliseconds, until pools and caches are filled. Much longer for a peer with a JIT compiler. */
const WARM_UP_MS: Readonly<Record<Load, number>> = {
  connect: 300,
  request: 200,
  download: 150,
  upload: 150,
};

/** Options of {@link measureRounds}. */
export interface RoundsOptions {
  readonly repetitions: number;
  /** How many times longer than others a peer with a JIT compiler is warmed up. */
  readonly compilingFactor: number;
  readonly time: LoadTime;
  readonly progress: Progress;
}

/**
 * Measures every peer in every case, `repetitions` times. Each case has its own warm-up, because a JavaScript engine
 * discards code that was not used for a minute, and the bench measures warm programs.
 */
export async function measureRounds(
  lab: Lab,
  peers: readonly RunningPeer[],
  cases: readonly Case[],
  options: RoundsOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const benchCase of cases) {
    const fitting = peers.filter(({ peer }) => supports(peer, benchCase));
    for (const running of fitting) {
      options.progress.update(benchCase.id, `warm-up, ${running.peer.name}`);
      await warmUp(lab, running, benchCase, options.compilingFactor);
    }
    for (let repetition = 1; repetition <= options.repetitions; repetition++) {
      for (const { peer, program } of shuffled(fitting)) {
        options.progress.update(
          benchCase.id,
          `${repetition} of ${options.repetitions}, ${peer.name}`,
        );
        const target = {
          port: program.port,
          name: HOST,
          kind: benchCase.kind,
          watchedPid: program.pid,
        };
        const args = loadArguments(benchCase.load, benchCase.kind);
        const counted = await countedLoad(lab, target, args, options.time);
        samples.push(
          sampleOf({ peer: peer.name, case: benchCase.id, repetition }, benchCase.load, counted),
        );
      }
    }
    options.progress.done(benchCase.id, `${options.repetitions} repetitions`);
  }
  return samples;
}

/**
 * Runs the load of a case through one peer, to fill its caches and to trigger its JIT compiler. That takes many
 * connections, and handshakes are slow, so a peer with a JIT compiler is warmed up with plain bytes first, if it
 * supports them.
 */
export async function warmUp(
  lab: Lab,
  { peer, program }: RunningPeer,
  { kind, load }: Pick<Case, 'kind' | 'load'>,
  compilingFactor: number,
): Promise<void> {
  const startsPlain = peer.hasJit === true && kind === 'tls' && peer.kinds.includes('plain');
  const factor = peer.hasJit === true ? compilingFactor : 1;
  for (const warmUpKind of startsPlain ? (['plain', kind] as const) : [kind]) {
    const target = { port: program.port, name: HOST, kind: warmUpKind };
    const time = { warmUpMs: 0, durationMs: WARM_UP_MS[load] * factor };
    await countedLoad(lab, target, loadArguments(load, warmUpKind), time);
  }
}

/** Returns undefined if the load did not complete. */
async function countedLoad(
  lab: Lab,
  target: LoadTarget,
  args: readonly string[],
  time: LoadTime,
): Promise<LoadResult | undefined> {
  try {
    return await runLoad(lab.programs.load, target, args, time, lab.signal);
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
}

/** Returns the sample of a load. A load without any completed work counts as an error too. */
export function sampleOf(
  id: Pick<Sample, 'peer' | 'case' | 'repetition'>,
  load: Load,
  counted: LoadResult | undefined,
): Sample {
  const cost = counted ? costOf(load, counted) : 0;
  if (!counted || counted.errors > 0 || !(cost > 0 && cost < Infinity)) {
    const noFigures = { cost: 0, perSecond: 0, latencyMedianUs: 0, latency99Us: 0 };
    return { ...id, ...noFigures, errors: counted?.errors || 1 };
  }
  return {
    ...id,
    cost,
    errors: 0,
    perSecond: counted.completed / (counted.elapsedNs / 1e9),
    latencyMedianUs: counted.latencyMedianUs,
    latency99Us: counted.latency99Us,
  };
}

function supports(peer: Peer, benchCase: Case): boolean {
  return peer.role === benchCase.role && peer.kinds.includes(benchCase.kind);
}

/** Returns the items in random order (Fisher-Yates), so that no peer always follows the same one. */
function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
