/**
 * Selects the engine: `epoll` where it works, otherwise `bun`, which works everywhere.
 */
import { BunEngine } from './bun/bun-engine.ts';
import type { Engine, EngineOptions } from './engine.ts';

/** The choices of a user. `auto`: `epoll` if it passes its self-test, otherwise `bun`. */
export const ENGINE_CHOICES = ['auto', 'epoll', 'bun'] as const;
/** One of {@link ENGINE_CHOICES}. */
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

/** An engine, and why `auto` did not select `epoll`. */
export interface OpenedEngine {
  readonly engine: Engine;
  /** Why `epoll` does not work here, for a log line and a metric. Absent if there was no fallback. */
  readonly fallbackReason?: string;
}

/** Creates an engine for this thread. @throws Error if `epoll` was requested by name and does not work here. */
export async function openEngine(
  choice: EngineChoice,
  options: EngineOptions,
): Promise<OpenedEngine> {
  if (choice === 'bun') return { engine: new BunEngine(options) };
  try {
    return { engine: await openEpoll(options) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (choice === 'epoll') {
      throw new Error(
        `engine epoll does not work here: ${reason}; omit --engine, or set it to bun`,
        {
          cause: error,
        },
      );
    }
    return { engine: new BunEngine(options), fallbackReason: reason };
  }
}

/** Imports the engine on demand, because the import throws where libc cannot be called. */
async function openEpoll(options: EngineOptions): Promise<Engine> {
  if (process.platform !== 'linux')
    throw new Error(`the epoll engine requires Linux (running on ${process.platform})`);
  const [{ testEpoll }, { EpollEngine }] = await Promise.all([
    import('./epoll/self-test.ts'),
    import('./epoll/epoll-engine.ts'),
  ]);
  testEpoll();
  return new EpollEngine(options);
}
