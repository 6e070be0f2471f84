/** Syncs the objects of a cluster with a folder. As long as the folder cannot be read, the objects stay as they are. */
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { Clock } from '../../clock/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Logger } from '../../telemetry/log.ts';
import { FolderUnreadable, type FolderFault } from '../folder/fault.ts';
import { identityOf } from '../folder/file-objects.ts';
import {
  FolderReader,
  unusableEdgeFiles,
  type FolderObject,
  type FolderReading,
} from '../folder/folder-reader.ts';
import { DirectoryWatch } from './directory-watch.ts';
import { FaultLog } from './fault-log.ts';
import { FolderWrites } from './folder-writes.ts';
import { fileOf, DELETION_GRACE_MS, emptyFolderText, planSync } from './plan-sync.ts';

interface FolderSyncOptions {
  readonly folder: string;
  /** A client with its own field manager. */
  readonly client: KubeClient;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called after each sync with all current faults, as sentences. */
  readonly onSync?: ((faults: readonly string[]) => void) | undefined;
  /** Called when {@link FolderSync.unusableEdgeFiles} has changed. */
  readonly onEdgeFiles?: (() => void) | undefined;
}

/** State of the sync, for metrics. */
export interface FolderState {
  files: number;
  faults: number;
  /** Why the folder as a whole is not applied, as a sentence. Undefined if it is. */
  problem: string | undefined;
}

/** Polling interval, for changes without an event. */
const POLL_MS = 5_000;
/** Delay of the next sync while an object is missing that may come back. */
const RECHECK_MS = 500;
/** How long stop() waits for a running sync. */
const STOP_TIMEOUT_MS = 1_000;

/** Keeps a cluster in sync with a folder. */
export class FolderSync {
  readonly state: FolderState = { files: 0, faults: 0, problem: undefined };
  /** The unusable files that seem to contain an Edge. */
  unusableEdgeFiles: readonly string[] = [];

  readonly #options: FolderSyncOptions;
  readonly #reader: FolderReader;
  readonly #watch: DirectoryWatch;
  readonly #writes: FolderWrites;
  readonly #faults: FaultLog;
  readonly #ended = new AbortController();
  /** The objects applied last, by identity. */
  #applied: ReadonlyMap<string, FolderObject> = new Map();
  #missingSince: ReadonlyMap<string, number> = new Map();
  #stopPolling: (() => void) | undefined;
  #recheck: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isDue = false;

  constructor(options: FolderSyncOptions) {
    this.#options = options;
    this.#reader = new FolderReader(options.folder);
    this.#faults = new FaultLog(options.folder, options.log);
    this.#writes = new FolderWrites(options.client, options.log, this.#ended.signal);
    this.#watch = new DirectoryWatch(() => this.syncSoon());
  }

  /**
   * Syncs the folder now and until stop(). The signal ends the wait, even if the disk does not respond. @throws
   * FolderUnreadable if no objects are known yet, or the signal's reason
   */
  async start(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([this.#firstSync(), aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Syncs now, or again after the running sync. */
  syncSoon(): void {
    if (this.#ended.signal.aborted) return;
    if (this.#running !== undefined) {
      this.#isDue = true;
      return;
    }
    this.#running = this.#syncAndReport().finally(() => {
      this.#running = undefined;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.syncSoon();
    });
  }

  /** Resolves when no sync is running or due. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Stops syncing. A running sync that waits for an unresponsive disk is abandoned. */
  async stop(): Promise<void> {
    this.#ended.abort();
    this.#stopPolling?.();
    clearTimeout(this.#recheck);
    this.#watch.stop();
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, STOP_TIMEOUT_MS);
    await Promise.race([this.idle(), timeout.promise]);
    clearTimeout(timer);
  }

  async #firstSync(): Promise<void> {
    const live = await this.#writes.live();
    if (live.length === 0) await this.#reader.read(this.#ended.signal);
    this.syncSoon();
    await this.idle();
    if (this.#ended.signal.aborted) return;
    if (this.state.files === 0 && this.state.problem === undefined) {
      const { folder, log } = this.#options;
      log.warn('folder has no YAML or JSON files yet', { folder });
    }
    this.#stopPolling = this.#options.clock.every(POLL_MS, () => this.syncSoon());
  }

  async #syncAndReport(): Promise<void> {
    try {
      await this.#sync();
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      const fields = error instanceof FolderUnreadable ? {} : { error };
      this.#suspend(`${reason}; its last objects stay applied`, fields);
    }
    const { problem } = this.state;
    this.#options.onSync?.([
      ...(problem === undefined ? [] : [problem]),
      ...this.#faults.sentences,
    ]);
  }

  async #sync(): Promise<void> {
    const reading = await this.#reader.read(this.#ended.signal);
    this.#watch.watch(reading.directories);
    const live = await this.#writes.live();
    this.state.files = reading.files.length;
    this.#setUnusableEdgeFiles(unusableEdgeFiles(reading));
    if (reading.files.length === 0 && live.length > 0) {
      this.#suspend(emptyFolderText(this.#options.folder));
      return;
    }
    await this.#applyReading(reading, live, await this.#writes.tenantRoutes());
    this.#resume();
  }

  #setUnusableEdgeFiles(files: readonly string[]): void {
    if (Bun.deepEquals(files, this.unusableEdgeFiles)) return;
    this.unusableEdgeFiles = files;
    this.#options.onEdgeFiles?.();
  }

  async #applyReading(
    reading: FolderReading,
    live: readonly KubeObject[],
    tenantRoutes: readonly TenantRoute[],
  ): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const missingSince = this.#missingSince;
    const plan = planSync({ reading, live, tenantRoutes, missingSince, nowMs });
    this.#missingSince = plan.missingSince;
    const present = new Set(live.map(identityOf));
    const applied = new Map([...this.#applied].filter(([identity]) => present.has(identity)));
    const faults: FolderFault[] = [];
    let changed = 0;
    for (const found of plan.apply) {
      const identity = identityOf(found.object);
      const before = applied.get(identity);
      if (before === undefined || !Bun.deepEquals(before, found)) {
        const fault = await this.#writes.apply(found);
        await new Promise(setImmediate); // so that signals are handled during thousands of writes
        if (fault !== undefined) {
          faults.push(fault);
          continue;
        }
        changed++;
      }
      applied.set(identity, found);
    }
    this.#applied = applied;
    let removed = 0;
    for (const object of plan.remove) {
      const fault = await this.#writes.remove(object);
      if (fault === undefined) removed++;
      else faults.push(fault);
    }
    const files = new Set(live.map(fileOf));
    this.#faults.report([...reading.faults, ...plan.faults, ...faults], reading, files);
    this.state.faults = this.#faults.sentences.length;
    if (changed + removed > 0) {
      this.#options.log.info('folder applied', {
        folder: this.#options.folder,
        files: reading.files.length,
        objects: reading.objects.length,
        changed,
        removed,
      });
    }
    const mayComeBack = [...plan.missingSince.values()].some(
      (at) => nowMs - at < DELETION_GRACE_MS,
    );
    clearTimeout(this.#recheck);
    if (mayComeBack) this.#recheck = setTimeout(() => this.syncSoon(), RECHECK_MS);
  }

  /**
   * Keeps all objects as they are. Missing objects may come back with the folder, so their grace period starts again
   * once it can be read.
   */
  #suspend(problem: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#missingSince = new Map();
    if (this.state.problem === problem) return;
    this.state.problem = problem;
    this.#options.log.error(problem, fields);
  }

  #resume(): void {
    if (this.state.problem === undefined) return;
    this.state.problem = undefined;
    this.#options.log.info('folder applied again', { folder: this.#options.folder });
  }
}
