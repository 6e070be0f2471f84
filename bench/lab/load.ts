import { type Kind, SMALL } from '../cases.ts';
import { withPlacement } from './placement.ts';

/** The output of the load generator (bench/c/load.c). */
export interface LoadResult {
  readonly completed: number;
  readonly bytes: number;
  readonly errors: number;
  readonly elapsedNs: number;
  /** CPU time of the watched process. */
  readonly processorNs: number;
  readonly latencyMedianUs: number;
  readonly latency99Us: number;
}

/** The target of a load. */
export interface LoadTarget {
  readonly port: number;
  readonly name: string;
  readonly kind: Kind;
  /** The process whose CPU time is measured. */
  readonly watchedPid?: number;
}

/** How long a load runs. */
export interface LoadTime {
  readonly warmUpMs: number;
  readonly durationMs: number;
}

/** Additional time that a load may take to connect and to end. */
const GRACE_MS = 15_000;

/** The error for a load that did not complete. */
export class LoadError extends Error {
  constructor(argv: readonly string[], printed: string) {
    super(`the load generator printed '${printed.trim()}': ${argv.join(' ')}`);
    this.name = 'LoadError';
  }
}

/** Runs the load generator for the given time. */
export async function runLoad(
  generator: string,
  target: LoadTarget,
  load: readonly string[],
  time: LoadTime,
  signal?: AbortSignal,
): Promise<LoadResult> {
  const argv = [
    ...loadArguments(generator, target, load),
    ...['--warm-up', String(time.warmUpMs), '--duration', String(time.durationMs)],
  ];
  const child = Bun.spawn(withPlacement('support', argv), {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: time.warmUpMs + time.durationMs + GRACE_MS,
    killSignal: 'SIGKILL',
    ...(signal ? { signal } : {}),
  });
  const printed = await new Response(child.stdout).text();
  await child.exited;
  signal?.throwIfAborted();
  return parseLoadResult(argv, printed);
}

/** Connections that have completed one request each and stay idle until they are disposed. */
export class IdleLoad implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #argv: readonly string[];

  constructor(generator: string, target: LoadTarget, connections: number, signal: AbortSignal) {
    this.#argv = [
      ...loadArguments(generator, target, SMALL),
      ...['--connections', String(connections), '--idle'],
    ];
    this.#child = Bun.spawn(withPlacement('support', this.#argv), {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
      signal,
    });
  }

  /** Resolves when all connections are idle. */
  async untilIdle(): Promise<LoadResult> {
    const reader = this.#child.stdout.getReader();
    const decoder = new TextDecoder();
    let printed = '';
    while (!printed.includes('\n')) {
      const { done, value } = await reader.read();
      if (done) break;
      printed += decoder.decode(value, { stream: true });
    }
    reader.releaseLock();
    return parseLoadResult(this.#argv, printed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}

function loadArguments(generator: string, target: LoadTarget, load: readonly string[]): string[] {
  return [
    generator,
    ...['--port', String(target.port), '--name', target.name, '--kind', target.kind],
    ...(target.watchedPid === undefined ? [] : ['--watch', String(target.watchedPid)]),
    ...load,
  ];
}

function parseLoadResult(argv: readonly string[], printed: string): LoadResult {
  try {
    return JSON.parse(printed) as LoadResult;
  } catch (error) {
    // The generator was killed, or it failed and printed the reason to standard error.
    if (error instanceof SyntaxError) throw new LoadError(argv, printed);
    throw error;
  }
}
