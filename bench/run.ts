/** Compares Snicket with alternatives: `make bench`. See docs/bench.md. */
import { terminalProgress } from '../world/parts/progress.ts';
import type { Kind } from './cases.ts';
import { Lab } from './lab/lab.ts';
import { othersShare, processorUse } from './lab/neighbors.ts';
import { WRAPPERS } from './lab/placement.ts';
import { type IdleMemory, measureIdle } from './measure/idle.ts';
import { measureRounds, type RunningPeer, type Sample } from './measure/rounds.ts';
import { measureRoutes, type RouteCosts } from './measure/routes.ts';
import { OptionsError, parseOptions, type Options } from './options.ts';
import { ALL_PEERS } from './peers/all.ts';
import type { Peer } from './peers/peer.ts';
import { compileC, type CPrograms } from './programs/compiled.ts';
import { MissingProgramError } from './programs/missing.ts';
import { plotOf } from './report/plot.ts';
import { describeMachine, type Results, saveResults } from './report/results.ts';
import { reportText } from './report/table.ts';

/** The peer of the measurement with many routes. */
const ROUTES_PEER = 'snicket-epoll';

const progress = terminalProgress();
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => interruption.abort(new Error(`ended by ${name}`)));

try {
  const names = ALL_PEERS.map((peer) => peer.name);
  const options = parseOptions(process.argv.slice(2), names);
  const missing = WRAPPERS.filter((name) => !Bun.which(name));
  if (process.platform !== 'linux' || missing.length > 0)
    throw new MissingProgramError(
      `the bench needs Linux with ${WRAPPERS.join(', ')}; install util-linux and coreutils`,
    );
  const results = await bench(options);
  const table = reportText(results);
  const folder = saveResults(results, { table, plot: plotOf(results) });
  console.log(`\n${table}\nSaved in ${folder}`);
  if (results.samples.some((sample) => sample.errors > 0)) process.exitCode = 1;
} catch (error) {
  const isExpected = error instanceof OptionsError || error instanceof MissingProgramError;
  if (!isExpected && !interruption.signal.aborted) throw error;
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = interruption.signal.aborted ? 130 : 2;
}

async function bench(options: Options): Promise<Results> {
  const failures: Record<string, string> = {};
  const versions: Record<string, string> = {};
  const roles = new Set([
    ...options.cases.map((benchCase) => benchCase.role),
    ...options.otherCases.map(roleOf),
  ]);
  const peers = ALL_PEERS.filter(
    (peer) => options.peers.includes(peer.name) && roles.has(peer.role),
  );
  progress.update('programs', 'compiling and unpacking programs that are not in the cache');
  const programs = await compileC();
  const available: Peer[] = [];
  for (const peer of peers) {
    await attempt(failures, peer.name, async () => {
      versions[peer.name] = await peer.version();
      available.push(peer);
    });
  }
  progress.done('programs', `${available.length} peers of ${peers.length}`);

  const before = processorUse();
  const measured = await measure(programs, options, available, failures);
  return {
    date: new Date().toISOString(),
    mode: options.mode,
    machine: describeMachine(),
    othersShare: othersShare(before, processorUse()),
    versions,
    failures,
    ...measured,
  };
}

/** Runs all measurements in the lab. When it returns, all programs have ended. */
async function measure(
  programs: CPrograms,
  options: Options,
  peers: readonly Peer[],
  failures: Record<string, string>,
): Promise<Pick<Results, 'samples' | 'idle' | 'routes'>> {
  await using lab = await Lab.open(programs, interruption.signal);
  const usable = peers.filter((peer) => peer.role === 'gateway');
  if (peers.length > usable.length) {
    await attempt(failures, "the edge behind the workers' proxies", async () => {
      await lab.startEdge();
      usable.push(...peers.filter((peer) => peer.role === 'proxy'));
    });
  }
  const samples = await measureCosts(lab, options, usable, failures);
  const idle = await measureMemory(lab, options, usable, failures);
  let routes: RouteCosts | undefined;
  if (
    options.otherCases.includes('gateway.routes') &&
    usable.some(({ name }) => name === ROUTES_PEER)
  ) {
    await attempt(failures, 'gateway.routes', async () => {
      routes = await measureRoutes(lab, { engine: 'epoll', ...options, progress });
    });
  }
  return { samples, idle, ...(routes ? { routes } : {}) };
}

async function measureCosts(
  lab: Lab,
  options: Options,
  peers: readonly Peer[],
  failures: Record<string, string>,
): Promise<Sample[]> {
  if (options.cases.length === 0) return [];
  const running: RunningPeer[] = [];
  for (const peer of peers.filter(({ role }) =>
    options.cases.some((benchCase) => benchCase.role === role),
  )) {
    progress.update('start', peer.name);
    await attempt(failures, peer.name, async () => {
      const launch = await peer.launch(lab.environment);
      running.push({ peer, program: await lab.start(peer.name, 'tested', launch, peer.kinds[0]) });
    });
  }
  progress.done('start', running.map(({ peer }) => peer.name).join(' '));
  const samples = await measureRounds(lab, running, options.cases, { ...options, progress });
  for (const { program } of running) {
    if (!program.isRunning) failures[program.name] = `it exited: ${program.recentOutput()}`;
    await lab.stop(program);
  }
  return samples;
}

async function measureMemory(
  lab: Lab,
  options: Options,
  peers: readonly Peer[],
  failures: Record<string, string>,
): Promise<IdleMemory[]> {
  const memories: IdleMemory[] = [];
  for (const id of options.otherCases.filter((other) => other.endsWith('.idle'))) {
    const kind = id.split('.')[1] as Kind;
    // A proxy that passes TLS through uses the same memory as for plain bytes.
    const measured = peers.filter(
      (peer) =>
        peer.role === roleOf(id) &&
        peer.kinds[0] === kind &&
        options.memoryPeers.includes(peer.name),
    );
    for (const peer of measured) {
      progress.update('memory', `${id} ${peer.name}`);
      await attempt(failures, `${id} ${peer.name}`, async () => {
        const idle = { ...options, connections: options.idleConnections[kind] };
        memories.push(await measureIdle(lab, peer, kind, idle));
      });
    }
  }
  if (memories.length > 0) progress.done('memory', `${memories.length} peers`);
  return memories;
}

function roleOf(id: string): 'gateway' | 'proxy' {
  return id.startsWith('gateway.') ? 'gateway' : 'proxy';
}

/**
 * Runs one step. If a peer is missing or fails, the run continues with the others, and the report lists the failure.
 */
async function attempt(
  failures: Record<string, string>,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    interruption.signal.throwIfAborted();
    failures[name] = (error as Error).message;
    progress.done(name, `failed: ${(error as Error).message}`);
  }
}
