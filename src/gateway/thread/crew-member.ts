/**
 * One engine's thread, as the main thread sees it: started, talked to, and started again should it die.
 */
import type { Counters } from '../../engine/counters.ts';
import type { Drainable } from '../../engine/drain.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';

/** What a member tells. */
export interface CrewMemberEvents {
  /** It died, and comes back after this time. */
  readonly onDeath: (index: number, error: Error | undefined, restartMs: number) => void;
  /**
   * It ended without closing its sockets, which then stay open in the process with nobody behind them: clients who
   * get one of them would wait for ever. Only the end of the process helps.
   */
  readonly onLoss: (index: number, error: Error | undefined) => void;
  readonly onMessage: (index: number, message: FromThread) => void;
}

/**
 * The program of the thread. In the compiled executable all that main.ts imports is one file, at the root of Bun's
 * virtual file system, and this one is beside it at its path in src/ (see `build` in the Makefile).
 */
const THREAD_PROGRAM = new URL(
  import.meta.url.includes('/$bunfs/') ? './gateway/thread/engine-thread.ts' : './engine-thread.ts',
  import.meta.url,
);

/** Between the deaths of a thread that dies again and again. */
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A thread that lived this long has earned a quick restart. */
const STABLE_MS = 60_000;

/** A thread that does not even answer is ended without its consent. */
const STOP_LIMIT_MS = 1000;

/** A thread that cannot do its work at all, such as listen. */
export class ThreadCannotStart extends Error {
  override readonly name = 'ThreadCannotStart';
}

/** The thread. */
export class CrewMember implements Drainable {
  readonly index: number;
  readonly counters: Counters;
  /** How often it died. */
  deaths = 0;
  /** Whether it listens. */
  isListening = false;
  engine = '';
  fallbackReason: string | undefined;
  /** Where it does not listen for want of IPv6, a sentence for each. */
  skipped: readonly string[] = [];

  readonly #startData: () => ThreadStart;
  readonly #events: CrewMemberEvents;
  #life: Life | undefined;
  /** The last version of the routes that it has, or begins with. */
  #appliedVersion = 0;
  #restartMs = FIRST_RESTART_MS;
  #restart: ReturnType<typeof setTimeout> | undefined;
  /** Told not to accept any more: should it die now, it stays dead. */
  #isLeaving = false;
  #isStopped = false;

  constructor(
    index: number,
    counters: Counters,
    startData: () => ThreadStart,
    events: CrewMemberEvents,
  ) {
    this.index = index;
    this.counters = counters;
    this.#startData = startData;
    this.#events = events;
  }

  /** Starts the thread and gives the addresses that it listens on. @throws ThreadCannotStart */
  async start(): Promise<readonly ListenAddress[]> {
    const life = new Life();
    const start = this.#startData();
    life.worker.postMessage(start);
    this.#life = life;
    this.#appliedVersion = start.version;
    life.worker.addEventListener('message', ({ data }: MessageEvent<FromThread>) => {
      this.#heard(life, data);
      this.#events.onMessage(this.index, data);
    });
    life.worker.addEventListener('error', (event) => {
      life.cause = new Error(event.message);
    });
    life.worker.addEventListener('close', () => this.#ended(life));
    return life.listening.promise;
  }

  /** Whether it goes by this version of the routes, or a later one. One that is not there will, when it starts. */
  hasApplied(version: number): boolean {
    return this.#life === undefined || this.#appliedVersion >= version;
  }

  tell(message: ToThread): void {
    this.#life?.worker.postMessage(message);
  }

  /** Ends it with all its connections, at once, and waits until it is gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const life = this.#life;
    if (life === undefined) return;
    this.tell({ type: 'stop' });
    const tooLong = setTimeout(() => life.worker.terminate(), STOP_LIMIT_MS);
    await life.over.promise;
    clearTimeout(tooLong);
  }

  /** Ends it with no chance to close anything, as by a crash of its own. */
  kill(): void {
    this.#life?.worker.terminate();
  }

  stopAccepting(): void {
    this.#isLeaving = true;
    clearTimeout(this.#restart);
    this.tell({ type: 'stop-accepting' });
  }

  closeOldest(count: number): void {
    this.tell({ type: 'close-oldest', count });
  }

  open(): number {
    return this.isListening ? this.counters.global('open') : 0;
  }

  #heard(life: Life, message: FromThread): void {
    switch (message.type) {
      case 'listening':
        this.isListening = true;
        this.engine = message.engine;
        this.fallbackReason = message.fallbackReason;
        this.skipped = message.skipped;
        life.listening.resolve(message.addresses);
        break;
      case 'cannot-start':
        life.cause = new ThreadCannotStart(message.sentence);
        life.worker.terminate();
        break;
      case 'stopped':
        life.hasClosedSockets = true;
        if (message.sentence !== undefined) life.cause = new Error(message.sentence);
        life.worker.terminate();
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

  #ended(life: Life): void {
    const wasListening = this.isListening;
    this.isListening = false;
    this.#life = undefined;
    life.over.resolve();
    const sentence = `engine thread ${this.index} ended before it listened`;
    life.listening.reject(life.cause ?? new ThreadCannotStart(sentence));
    if (!wasListening || this.#isStopped) return;
    // Bun closes what it has opened itself.
    if (life.hasClosedSockets || this.engine === 'bun') this.#died(life.cause, life.startedMs);
    else this.#events.onLoss(this.index, life.cause);
  }

  #died(error: Error | undefined, startedMs: number): void {
    this.deaths++;
    this.counters.forgetOpen();
    if (performance.now() - startedMs > STABLE_MS) this.#restartMs = FIRST_RESTART_MS;
    const restartMs = this.#restartMs;
    this.#restartMs = Math.min(2 * restartMs, LONGEST_RESTART_MS);
    this.#events.onDeath(this.index, error, restartMs);
    if (this.#isLeaving) return;
    this.#restart = setTimeout(() => {
      const againMs = performance.now();
      this.start().catch((reason: unknown) => {
        // One that is told to leave while it starts does not listen any more, and that is no death.
        if (this.#isStopped || this.#isLeaving) return;
        this.#died(reason instanceof Error ? reason : new Error(String(reason)), againMs);
      });
    }, restartMs);
  }
}

/** A thread from its start to its end; the next one has another. */
class Life {
  /** The Worker of the web, not of node:worker_threads, which takes 5 MB more for each thread. */
  readonly worker = new Worker(THREAD_PROGRAM);
  readonly startedMs = performance.now();
  readonly listening = Promise.withResolvers<readonly ListenAddress[]>();
  readonly over = Promise.withResolvers<void>();
  /** Why it ends, as far as anybody knows. */
  cause: Error | undefined;
  hasClosedSockets = false;
}
