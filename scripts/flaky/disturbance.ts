/** Simulates a busy machine: keeps its processors busy, and pauses processes for seconds. */
import { join } from 'node:path';
import type { Random } from '../../fuzz/random.ts';
import {
  familyOf,
  identityOf,
  signal as sendSignal,
  stateOf,
  type ProcessIdentity,
} from '../../world/machine/identity.ts';

/** Options of {@link disturb}. */
export interface DisturbanceOptions {
  /** PID of the process that is paused, with its descendants. */
  readonly root: number;
  /** Chooses which process is paused, when and for how long. */
  readonly random: Random;
  /** Number of processes that keep a processor busy, on and off. */
  readonly busyProcesses: number;
  /** Longest pause of a process. Default 3,000. */
  readonly maxPauseMs?: number;
  /** Longest time between two pauses. Default 3,000. */
  readonly maxGapMs?: number;
}

/** Totals of the pauses. */
export interface DisturbanceTotals {
  pauses: number;
  pausedMs: number;
}

const MIN_PAUSE_MS = 100;

/**
 * A busy loop with pauses, so that the load comes in bursts. It exits when its parent exits. Its argument is the PID of
 * the parent.
 */
const BUSY_LOOP = `
const parent = Number(process.argv.at(-1));
for (;;) {
  const end = performance.now() + 500 + Math.random() * 2500;
  while (performance.now() < end);
  await Bun.sleep(Math.random() * 1500);
  if (process.ppid !== parent) process.exit();
}`;

/**
 * Pauses processes until the signal aborts, then resumes the paused process and ends all child processes. If this process is
 * killed, a watchdog resumes the paused process and terminates the root.
 */
export async function disturb(
  options: DisturbanceOptions,
  signal: AbortSignal,
): Promise<DisturbanceTotals> {
  const { random, maxPauseMs = 3000, maxGapMs = 3000 } = options;
  const busy = Array.from({ length: options.busyProcesses }, () =>
    Bun.spawn([process.execPath, '-e', BUSY_LOOP, String(process.pid)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const totals: DisturbanceTotals = { pauses: 0, pausedMs: 0 };
  const watchdog = startWatchdog(options.root);
  try {
    while (!signal.aborted) {
      await sleep(random.below(maxGapMs), signal);
      const candidates = familyOf(options.root).filter(
        ({ pid }) => !['T', 'Z', undefined].includes(stateOf(pid)),
      );
      if (candidates.length === 0 || signal.aborted) continue;
      const victim = random.pick(candidates);
      const pauseMs = MIN_PAUSE_MS + random.below(maxPauseMs - MIN_PAUSE_MS);
      await watchdog.stdin.write(`${victim.pid} ${victim.startTicks}\n`);
      await watchdog.stdin.flush();
      if (await pause(victim, pauseMs, signal)) {
        totals.pauses++;
        totals.pausedMs += pauseMs;
      }
    }
  } finally {
    const children = [...busy, watchdog];
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map(async ({ exited }) => exited));
  }
  return totals;
}

function startWatchdog(root: number) {
  const { startTicks = '' } = identityOf(root) ?? {};
  // In its own session, so that a signal to the process group of this process does not reach it.
  return Bun.spawn(
    [process.execPath, join(import.meta.dir, 'watchdog.ts'), String(root), startTicks],
    { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit', detached: true },
  );
}

/** Stops a process for a while, if the PID still belongs to it. */
async function pause(victim: ProcessIdentity, ms: number, signal: AbortSignal): Promise<boolean> {
  if (!sendSignal(victim, 'SIGSTOP')) return false;
  try {
    await sleep(ms, signal);
  } finally {
    sendSignal(victim, 'SIGCONT');
  }
  return true;
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => resolve();
  signal.addEventListener('abort', abort);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
}
