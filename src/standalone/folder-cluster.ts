/**
 * The cluster of `snicket run`: objects in memory, persisted in the state folder, with the few controllers that a
 * cluster would run itself.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isSamePath } from '../files/real-path.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import { collectGarbage } from '../kube/store/garbage.ts';
import { createMemoryClient } from '../kube/store/memory-client.ts';
import { ObjectStore } from '../kube/store/object-store.ts';
import { IDENTITY_NAMESPACE } from '../management/management-view.ts';
import type { Logger } from '../telemetry/log.ts';
import { logEvents } from './event-log.ts';
import { DEFAULT_NAMESPACE } from './folder/file-objects.ts';
import { OPERATOR_NAMESPACE } from './folder/rules.ts';
import { DATABASE_FILE, ObjectDatabase } from './state/object-database.ts';
import { prepareStateFolder, StateRefused, wasUsedBefore } from './state/state-folder.ts';
import { startStatusFile, type StatusFile } from './state/status-file.ts';

interface FolderClusterOptions {
  readonly folder: string;
  readonly state: string;
  readonly log: Logger;
}

/** All resources of this cluster. It lacks those of other edges and of providers, so nothing reads them. */
const FOLDER_RESOURCES: readonly Resource[] = [
  RESOURCES.namespace,
  RESOURCES.edge,
  RESOURCES.exposure,
  RESOURCES.tenantRoute,
  RESOURCES.secret,
  RESOURCES.service,
  RESOURCES.endpointSlice,
  RESOURCES.event,
];

/**
 * Number of changes that a watch can resume from. A watch in the same process is never interrupted, so few are needed.
 */
const HISTORY_LIMIT = 1_000;

/** A cluster in this process. */
export class FolderCluster {
  readonly store: ObjectStore;
  /** Whether the cluster had no Exposures when it was opened. */
  readonly isNew: boolean;
  readonly #database: ObjectDatabase;
  readonly #log: Logger;
  readonly #statusFile: StatusFile;
  /** The last reported problem of the database. */
  #databaseProblem: string | undefined;

  /** Opens the cluster with all objects of the last process. @throws StateRefused */
  constructor({ folder, state, log }: FolderClusterOptions) {
    this.#log = log;
    prepareStateFolder(state, folder);
    this.#database = new ObjectDatabase(state);
    if (this.#database.isNew && wasUsedBefore(state)) this.#warnAboutNewDatabase(state);
    this.#rejectOtherFolder(resolve(folder), state);
    this.store = new ObjectStore({ historyLimit: HISTORY_LIMIT, persistence: this.#database });
    const namespaces = new Set([DEFAULT_NAMESPACE, OPERATOR_NAMESPACE]);
    for (const { resource, object } of this.#database.objects()) {
      this.store.restore(resource, object);
      if (object.metadata.namespace !== undefined) namespaces.add(object.metadata.namespace);
    }
    const { apiVersion, kind } = RESOURCES.namespace;
    for (const name of namespaces) {
      this.store.restore(RESOURCES.namespace, { apiVersion, kind, metadata: { name } });
    }
    const system = { ...IDENTITY_NAMESPACE, uid: this.#database.id };
    this.store.restore(RESOURCES.namespace, { apiVersion, kind, metadata: system });
    this.isNew = this.store.list(RESOURCES.exposure).length === 0;
    this.#collectGarbage();
    logEvents(this.store, log);
    this.onExposureRemoved(() => this.#collectGarbage());
    this.#statusFile = startStatusFile({ state, folder: resolve(folder), store: this.store, log });
  }

  /** Returns a client with this field manager. */
  client(fieldManager: string): KubeClient {
    const { store } = this;
    return createMemoryClient({ store, resources: FOLDER_RESOURCES, fieldManager, name: 'folder' });
  }

  /** Calls the listener after an Exposure was removed. */
  onExposureRemoved(listener: () => void): void {
    this.store.listen(({ plural, after }) => {
      // Deferred, so that all other listeners of the store are notified first.
      if (plural === RESOURCES.exposure.plural && after === undefined) queueMicrotask(listener);
    });
  }

  /** Reports faults to the status file and the log: those of the folder, and a problem of the database. */
  reportFaults(faults: readonly string[]): void {
    const problem = this.#database.lossReason();
    if (problem !== undefined && problem !== this.#databaseProblem) this.#log.error(problem);
    this.#databaseProblem = problem;
    this.#statusFile.setFaults(problem === undefined ? faults : [problem, ...faults]);
  }

  close(): void {
    this.#statusFile.stop();
    this.#database.close();
  }

  /** Collects garbage. If a write fails, as on a full disk, the next run retries it. */
  #collectGarbage(): void {
    try {
      collectGarbage(this.store, FOLDER_RESOURCES);
    } catch (error) {
      this.#log.error('garbage collection failed', { error });
    }
  }

  /**
   * Refuses a state that belongs to another folder. All objects would be missing from the other folder, and Snicket
   * would delete them. A moved folder counts as the same. So does the same folder by another path, or by a link that
   * now points to a new version of it.
   */
  #rejectOtherFolder(folder: string, state: string): void {
    const { folder: before } = this.#database;
    const isSame = before === undefined || isSamePath(before, folder);
    if (!isSame && existsSync(before)) {
      this.#database.close();
      throw new StateRefused(
        `the state ${state} belongs to the folder ${before}, which still exists, not to ${folder}: Snicket would clean up all tenants of ${before}. Pass another directory with --state, or move ${before} away`,
      );
    }
    if (before !== folder) this.#recordFolder(folder, before);
  }

  /**
   * Records the folder in the state. If the disk is full, known objects are served anyway. @throws StateRefused for a
   * new state
   */
  #recordFolder(folder: string, before: string | undefined): void {
    try {
      this.#database.folder = folder;
    } catch (error) {
      if (error instanceof StateRefused && before !== undefined) {
        const moved = 'moved folder not recorded in the state';
        this.#log.error(moved, { folder, before, error });
        return;
      }
      this.#database.close();
      throw error;
    }
  }

  #warnAboutNewDatabase(state: string): void {
    this.#log.warn('object database missing or empty, previous objects are unknown', {
      file: join(state, DATABASE_FILE),
      effect:
        'tenants of the folder are taken over again; tenants whose files were removed are not cleaned up',
      hint: 'if you have a copy of the file, stop this process and restore it',
    });
  }
}
