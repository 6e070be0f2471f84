/**
 * Which engine a program gets: the fast one where it works, else the one that works everywhere.
 */
import { BunEngine } from './bun/bun-engine.ts';
import type { Engine, EngineOptions } from './engine.ts';

/** What can be asked for. `auto`: `epoll` if it passes its self-test, else `bun`. */
export const ENGINE_CHOICES = ['auto', 'epoll', 'bun'] as const;
/** One of {@link ENGINE_CHOICES}. */
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

/** An engine, and why it is not the one that `auto` would rather have. */
export interface OpenedEngine {
  readonly engine: Engine;
  /** For a log line and a metric; absent if nothing went wrong. */
  readonly fallbackReason?: string;
}

/** Makes an engine for this thread. @throws if `epoll` was asked for by name and cannot be had. */
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
        `engine epoll cannot be had here: ${reason}; leave --engine out, or say bun`,
        {
          cause: error,
        },
      );
    }
    return { engine: new BunEngine(options), fallbackReason: reason };
  }
}

/** Imported only here and now: where there is no libc to call, the import throws. */
async function openEpoll(options: EngineOptions): Promise<Engine> {
  if (process.platform !== 'linux')
    throw new Error(`epoll is of Linux, and this is ${process.platform}`);
  const [{ testEpoll }, { EpollEngine }] = await Promise.all([
    import('./epoll/self-test.ts'),
    import('./epoll/epoll-engine.ts'),
  ]);
  testEpoll();
  return new EpollEngine(options);
}
