/** Runs scenarios, each in its own test process, in parallel within the capacity of the machine. */
import { readFileSync } from 'node:fs';
import type { Scenario } from './scenarios.ts';
import { nextScenario, type Capacity } from './schedule.ts';

/** The result of a scenario. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, if its own log does not contain the reason. */
  readonly reason?: string;
  readonly seconds: number;
}

/** Options of {@link runScenarios}. */
export interface RunOptions {
  /** Scenarios, in the order in which they start. */
  readonly scenarios: readonly Scenario[];
  /** Resolves when the parts of a scenario are built, and rejects if they cannot be. */
  readonly prepare: (scenario: Scenario) => Promise<void>;
  /** Runs its tests, and returns their exit code. */
  readonly runTests: (scenario: Scenario) => Promise<number>;
  /** Returns the current capacity of the machine. */
  readonly capacity: () => Capacity;
  /** Returns milliseconds since an arbitrary time. */
  readonly nowMs: () => number;
  /** Reports whether an optional scenario may still start. */
  readonly hasTimeForOptional: () => boolean;
  readonly onStart?: (scenario: Scenario) => void;
  readonly onEnd?: (outcome: Outcome) => void;
  /** Prevents further starts when it is aborted. */
  readonly signal: AbortSignal;
  /** Time between two checks whether another scenario can start. Default 1,000. */
  readonly pollMs?: number;
}

/**
 * Runs all scenarios, and returns their outcomes in the order in which they ended. After a failure, the others still
 * run.
 */
export async function runScenarios(options: RunOptions): Promise<readonly Outcome[]> {
  const { nowMs, onStart, onEnd, signal, pollMs = 1000 } = options;
  const outcomes: Outcome[] = [];
  const waiting = [...options.scenarios];
  const running = new Map<Scenario, Promise<void>>();
  const prepared = new Set<Scenario>();
  const end = (outcome: Outcome) => {
    outcomes.push(outcome);
    onEnd?.(outcome);
  };
  const drop = (scenario: Scenario, result: 'failed' | 'skipped', reason: string) => {
    const at = waiting.indexOf(scenario);
    if (at < 0) return;
    waiting.splice(at, 1);
    end({ scenario, result, reason, seconds: 0 });
  };

  for (const scenario of options.scenarios) {
    options.prepare(scenario).then(
      () => prepared.add(scenario),
      (error: unknown) => {
        if (signal.aborted) drop(scenario, 'skipped', 'interrupted');
        else drop(scenario, 'failed', errorText(error));
      },
    );
  }

  while (waiting.length > 0 || running.size > 0) {
    if (signal.aborted)
      for (const scenario of [...waiting]) drop(scenario, 'skipped', 'interrupted');
    if (!options.hasTimeForOptional()) {
      for (const scenario of waiting.filter(({ isOptional }) => isOptional)) {
        drop(scenario, 'skipped', 'no time left');
      }
    }
    const startable = waiting.filter((scenario) => prepared.has(scenario));
    const next = nextScenario(startable, [...running.keys()], options.capacity());
    if (next === undefined) {
      // Another scenario may become prepared meanwhile, or the capacity may grow.
      await Promise.race([Bun.sleep(pollMs), ...running.values()]);
      continue;
    }
    waiting.splice(waiting.indexOf(next), 1);
    onStart?.(next);
    const startMs = nowMs();
    const seconds = () => Math.round((nowMs() - startMs) / 1000);
    const ended = options
      .runTests(next)
      .then(
        (code): Outcome => ({
          scenario: next,
          result: code === 0 ? 'passed' : 'failed',
          seconds: seconds(),
        }),
        (error: unknown): Outcome => ({
          scenario: next,
          result: 'failed',
          reason: errorText(error),
          seconds: seconds(),
        }),
      )
      .then((outcome) => {
        running.delete(next);
        end(outcome);
      });
    running.set(next, ended);
  }
  return outcomes;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the memory that is available without swapping. */
export function availableMemoryMiB(): number {
  const text = readFileSync('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable: +(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}
