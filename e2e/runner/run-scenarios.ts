/**
 * Runs scenarios, each in a test process of its own, as many side by side as the machine has room for.
 */
import { readFileSync } from 'node:fs';
import type { Scenario } from './scenarios.ts';
import { nextScenario, type Room } from './schedule.ts';

/** How a scenario ended. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, where its own log does not say so. */
  readonly reason?: string;
  readonly seconds: number;
}

/** What {@link runScenarios} needs. */
export interface RunOptions {
  /** In the order in which they start. */
  readonly scenarios: readonly Scenario[];
  /** Resolves when the parts of a scenario are built, and rejects if they cannot be. */
  readonly prepare: (scenario: Scenario) => Promise<void>;
  /** Runs its tests, and gives their exit code. */
  readonly runTests: (scenario: Scenario) => Promise<number>;
  /** What the machine has left, now. */
  readonly room: () => Room;
  /** Milliseconds since some moment. */
  readonly nowMs: () => number;
  /** Whether an optional scenario may still start. */
  readonly hasTimeForOptional: () => boolean;
  readonly onStart?: (scenario: Scenario) => void;
  readonly onEnd?: (outcome: Outcome) => void;
  /** No scenario starts after it. */
  readonly signal: AbortSignal;
  /** How often it is checked whether another one can start. Default 1,000. */
  readonly pollMs?: number;
}

/** Runs all, and gives their outcomes in the order in which they ended. A failure does not keep others from starting. */
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
    if (signal.aborted) for (const one of [...waiting]) drop(one, 'skipped', 'interrupted');
    if (!options.hasTimeForOptional()) {
      for (const one of waiting.filter(({ isOptional }) => isOptional)) {
        drop(one, 'skipped', 'no time left');
      }
    }
    const startable = waiting.filter((one) => prepared.has(one));
    const next = nextScenario(startable, [...running.keys()], options.room());
    if (next === undefined) {
      // Another one may be prepared meanwhile, or the machine may have more room.
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

/** Memory that programs can get without swapping. */
export function availableMemoryMiB(): number {
  const text = readFileSync('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable: +(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}
