/** Controls one engine thread from the main thread: starts it, sends it messages, and restarts it after a crash. */
import type { Counters } from '../../engine/counters.ts';
import type { Drainable } from '../../engine/drain.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';

/** Events of an engine thread. */
export interface EngineThreadEvents {
  /** The thread crashed and restarts after this time. */
  readonly onCrash: (index: number, error: Error | undefined, restartMs: number) => void;
  /**
   * The thread ended without closing its sockets. They stay open in the process, and clients whose connections the
   * kernel assigns to these sockets wait forever. Only a restart of the process helps.
   */
  readonly onLoss: (index: number, error: Error | undefined) => void;
  readonly onMessage: (index: number, message: FromThread) => void;
}

/**
 * The program of the thread. In the compiled executable, everything that main.ts imports is one file at the root of
 * Bun's virtual file system, and the thread program is beside it at its path in src/ (see `build` in the Makefile).
 */
const THREAD_PROGRAM = new URL(
  import.meta.url.includes('/$bunfs/')
    ? './gateway/thread/thread-program.ts'
    : './thread-program.ts',
  import.meta.url,
);

/** Delay before the restart of a crashed thread: the first, and the maximum after repeated crashes. */
const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 10_000;
/** A thread that ran this long restarts with the first delay again. */
const STABLE_MS = 60_000;

/** A thread that does not stop within this time is terminated. */
const STOP_LIMIT_MS = 1000;

/** The error when a thread cannot start, for example because it cannot listen. */
export class ThreadStartError extends Error {
  override readonly name = 'ThreadStartError';
}

/** One engine thread, as seen from the main thread. */
export class EngineThread implements Drainable {
  readonly index: number;
  readonly counters: Counters;
  /** How often it crashed. */
  crashes = 0;
  /** Whether it accepts connections. */
  isListening = false;
  engine = '';
  fallbackReason: string | undefined;
  /** The reason for each skipped address, on a machine without IPv6. */
  skipped: readonly string[] = [];

  readonly #startData: () => ThreadStart;
  readonly #events: EngineThreadEvents;
  #run: Run | undefined;
  /** The last version of the routes that the thread has applied, or starts with. */
  #appliedVersion = 0;
  #restartMs = FIRST_RESTART_MS;
  #restart: ReturnType<typeof setTimeout> | undefined;
  /** Set once the thread should stop accepting. If it crashes then, it is not restarted. */
  #isStopping = false;
  #isStopped = false;

  constructor(
    index: number,
    counters: Counters,
    startData: () => ThreadStart,
    events: EngineThreadEvents,
  ) {
    this.index = index;
    this.counters = counters;
    this.#startData = startData;
    this.#events = events;
  }

  /** Starts the thread and returns the addresses that it listens on. @throws ThreadStartError */
  async start(): Promise<readonly ListenAddress[]> {
    const run = new Run();
    const start = this.#startData();
    run.worker.postMessage(start);
    this.#run = run;
    this.#appliedVersion = start.version;
    run.worker.addEventListener('message', ({ data }: MessageEvent<FromThread>) => {
      this.#handle(run, data);
      this.#events.onMessage(this.index, data);
    });
    run.worker.addEventListener('error', (event) => {
      run.cause = new Error(event.message);
    });
    run.worker.addEventListener('close', () => this.#ended(run));
    return run.listening.promise;
  }

  /**
   * Whether the thread has applied this version of the routes or a later one. A thread that is not running counts as up
   * to date, since it starts with the current routes.
   */
  hasApplied(version: number): boolean {
    return this.#run === undefined || this.#appliedVersion >= version;
  }

  send(message: ToThread): void {
    this.#run?.worker.postMessage(message);
  }

  /** Stops the thread with all its connections at once, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const run = this.#run;
    if (run === undefined) return;
    this.send({ type: 'stop' });
    const tooLong = setTimeout(() => run.worker.terminate(), STOP_LIMIT_MS);
    await run.over.promise;
    clearTimeout(tooLong);
  }

  /** Terminates the thread without closing its sockets, as a crash would. */
  kill(): void {
    this.#run?.worker.terminate();
  }

  stopAccepting(): void {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.send({ type: 'stop-accepting' });
  }

  closeOldest(count: number): void {
    this.send({ type: 'close-oldest', count });
  }

  open(): number {
    return this.isListening ? this.counters.global('open') : 0;
  }

  #handle(run: Run, message: FromThread): void {
    switch (message.type) {
      case 'listening':
        this.isListening = true;
        this.engine = message.engine;
        this.fallbackReason = message.fallbackReason;
        this.skipped = message.skipped;
        run.listening.resolve(message.addresses);
        break;
      case 'cannot-start':
        run.cause = new ThreadStartError(message.error);
        run.worker.terminate();
        break;
      case 'stopped':
        run.hasClosedSockets = true;
        if (message.error !== undefined) run.cause = new Error(message.error);
        run.worker.terminate();
        break;
      case 'applied':
        this.#appliedVersion = message.version;
        break;
      case 'keys-refused':
      case 'fault':
      case 'access-log':
        break;
    }
  }

  #ended(run: Run): void {
    const wasListening = this.isListening;
    this.isListening = false;
    this.#run = undefined;
    run.over.resolve();
    const reason = `engine thread ${this.index} ended before it could listen`;
    run.listening.reject(run.cause ?? new ThreadStartError(reason));
    if (!wasListening || this.#isStopped) return;
    // Bun closes the sockets that it opened itself.
    if (run.hasClosedSockets || this.engine === 'bun') this.#crashed(run.cause, run.startedMs);
    else this.#events.onLoss(this.index, run.cause);
  }

  #crashed(error: Error | undefined, startedMs: number): void {
    this.crashes++;
    this.counters.resetGauges();
    if (performance.now() - startedMs > STABLE_MS) this.#restartMs = FIRST_RESTART_MS;
    const restartMs = this.#restartMs;
    this.#restartMs = Math.min(2 * restartMs, MAX_RESTART_MS);
    this.#events.onCrash(this.index, error, restartMs);
    if (this.#isStopping) return;
    this.#restart = setTimeout(() => {
      const startMs = performance.now();
      this.start().catch((reason: unknown) => {
        // A thread that is stopped while it starts never listens. That is not a crash.
        if (this.#isStopped || this.#isStopping) return;
        this.#crashed(reason instanceof Error ? reason : new Error(String(reason)), startMs);
      });
    }, restartMs);
  }
}

/** One run of a thread, from start to end. A restart creates another. */
class Run {
  /** The Worker of the web API. That of node:worker_threads takes 5 MB more per thread. */
  readonly worker = new Worker(THREAD_PROGRAM);
  readonly startedMs = performance.now();
  readonly listening = Promise.withResolvers<readonly ListenAddress[]>();
  readonly over = Promise.withResolvers<void>();
  /** Why the run ended, if known. */
  cause: Error | undefined;
  hasClosedSockets = false;
}
