/**
 * For tests only: an engine in a separate process, for tests that concern the whole process. Run as a program, this
 * file is that process. It answers each message with a report.
 */
import { readdirSync } from 'node:fs';
import type { Limits } from '../limits.ts';
import { ENGINES, makeEngine } from './engines.ts';
import { Table, type Row } from './table.ts';

/** The counters and resources of the process. */
interface Report {
  readonly port: number;
  readonly uptimeMs: number;
  readonly cpuMs: number;
  /** `rssBytes` and `descriptors` are 0 unless requested, because reading them takes a file descriptor. */
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly open: number;
  readonly accepted: number;
  readonly bufferedBytes: number;
  readonly recoveredEvents: number;
  readonly failures: Readonly<Record<string, number>>;
}

interface EngineProcessOptions {
  /** Maximum number of file descriptors. Default 1024. */
  readonly maxFiles?: number;
  readonly limits?: Partial<Limits>;
}

/** A handle of the process in its parent. */
export class EngineProcess implements AsyncDisposable {
  readonly #child: Bun.Subprocess;
  #answer: ((report: Report) => void) | undefined;

  private constructor(engine: string, rows: readonly Row[], options: EngineProcessOptions) {
    const { maxFiles = 1024, limits = {} } = options;
    const args = [engine, JSON.stringify(rows), JSON.stringify(limits)];
    const command = [process.execPath, import.meta.path, ...args];
    this.#child = Bun.spawn(['sh', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'sh', ...command], {
      ipc: (report: Report) => this.#answer?.(report),
      stdout: 'inherit',
      stderr: 'inherit',
    });
  }

  /** Starts an engine and waits until it listens. */
  static async start(
    engine: string,
    rows: readonly Row[],
    options: EngineProcessOptions = {},
  ): Promise<EngineProcess> {
    const child = new EngineProcess(engine, rows, options);
    const { promise, resolve } = Promise.withResolvers<Report>();
    child.#answer = resolve; // the process sends one report when it listens
    await promise;
    return child;
  }

  /** Returns a report; with `resources`, memory and file descriptors are included. */
  async report(detail: 'counts' | 'resources' = 'counts'): Promise<Report> {
    const { promise, resolve } = Promise.withResolvers<Report>();
    this.#answer = resolve;
    this.#child.send(detail);
    return promise;
  }

  /** Requests reports until the condition holds. @throws Error after the deadline. */
  async until(
    condition: (report: Report) => boolean,
    description: string,
    question: 'counts' | 'resources' = 'counts',
    deadlineMs = 200_000,
  ): Promise<Report> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      const report = await this.report(question);
      if (condition(report)) return report;
      if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${description}`);
      await Bun.sleep(10);
    }
  }

  /* * Waits until the process uses less than this share of a core for half a second. A busy loop never does. A healthy
   * process may have to compile or collect garbage first. @throws Error after the deadline.
   */
  async untilIdle(maxShare: number, deadlineMs = 200_000): Promise<Report> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      const before = await this.report();
      const after = await this.until(
        ({ uptimeMs }) => uptimeMs > before.uptimeMs + 500,
        'half a second',
      );
      const share = (after.cpuMs - before.cpuMs) / (after.uptimeMs - before.uptimeMs);
      if (share < maxShare) return after;
      if (performance.now() > end) throw new Error(`it still uses ${share} of a core`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}

function run(engineName: string, rows: readonly Row[], limits: Partial<Limits>): void {
  const table = new Table(rows);
  const engine = makeEngine(engineName, {
    router: table,
    counters: table.counters,
    limits,
    onFault: (error) => console.error(error),
  });
  const port = engine.listen({ address: '127.0.0.1', port: 0 });
  const report = (question?: unknown) => {
    const { user, system } = process.cpuUsage();
    const answer: Report = {
      port,
      uptimeMs: performance.now(),
      cpuMs: (user + system) / 1000,
      rssBytes: question === 'resources' ? process.memoryUsage.rss() : 0,
      descriptors: question === 'resources' ? readdirSync('/proc/self/fd').length : 0,
      open: table.counters.global('open'),
      accepted: table.counters.global('accepted'),
      bufferedBytes: table.counters.global('bufferedBytes'),
      recoveredEvents: table.counters.global('recoveredEvents'),
      failures: table.counters.failures(),
    };
    table.closedConnections.length = 0; // not used here
    process.send?.(answer);
  };
  process.on('message', report);
  report();
}

if (import.meta.main) {
  const [engine = '', rows = '[]', limits = '{}'] = process.argv.slice(2);
  if (!ENGINES.has(engine)) throw new RangeError(`no engine is called '${engine}'`);
  run(engine, JSON.parse(rows) as readonly Row[], JSON.parse(limits) as Partial<Limits>);
}
