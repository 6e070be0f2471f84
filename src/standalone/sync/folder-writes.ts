/** Reads and writes the objects of a folder in the cluster. */
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, resourceOf } from '../../kube/resource.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { FolderFault } from '../folder/fault.ts';
import { identityOf } from '../folder/file-objects.ts';
import type { FolderObject } from '../folder/folder-reader.ts';
import { FILE_ANNOTATION, fileOf } from './plan-sync.ts';

/** The objects of a folder in a cluster. */
export class FolderWrites {
  readonly #client: KubeClient;
  readonly #log: Logger;
  readonly #signal: AbortSignal;

  /** The client must have its own field manager. */
  constructor(client: KubeClient, log: Logger, signal: AbortSignal) {
    this.#client = client;
    this.#log = log;
    this.#signal = signal;
  }

  /** Returns all objects in the cluster that come from the folder. */
  async live(): Promise<readonly KubeObject[]> {
    const kinds = [RESOURCES.edge, RESOURCES.exposure, RESOURCES.secret];
    const signal = this.#signal;
    const lists = await Promise.all(kinds.map(async (kind) => this.#client.list(kind, { signal })));
    return lists.flatMap(({ items }) => items).filter((object) => fileOf(object) !== '');
  }

  /** Returns all TenantRoutes in the cluster. */
  async tenantRoutes(): Promise<readonly TenantRoute[]> {
    const signal = this.#signal;
    const { items } = await this.#client.list<TenantRoute>(RESOURCES.tenantRoute, { signal });
    return items;
  }

  /** Applies an object. Returns a fault if that fails. */
  async apply({ object, file }: FolderObject): Promise<FolderFault | undefined> {
    const signal = this.#signal;
    const { annotations, namespace } = object.metadata;
    const marked = {
      ...object,
      metadata: { ...object.metadata, annotations: { ...annotations, [FILE_ANNOTATION]: file } },
    };
    return this.#faultOnError(file, `${identityOf(object)} cannot be applied`, async () => {
      if (namespace !== undefined) await this.#ensureNamespace(namespace);
      await this.#client.apply(marked, { force: true, signal });
    });
  }

  async #ensureNamespace(name: string): Promise<void> {
    if ((await this.#client.get(RESOURCES.namespace, { name })) !== undefined) return;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await this.#client.create(RESOURCES.namespace, namespace);
  }

  /** Deletes an object. Returns a fault if that fails. */
  async remove(object: KubeObject): Promise<FolderFault | undefined> {
    const { uid } = object.metadata;
    const signal = this.#signal;
    const identity = identityOf(object);
    const file = fileOf(object);
    return this.#faultOnError(
      file,
      `${identity} was removed from the folder but cannot be deleted`,
      async () => {
        await this.#client.delete(resourceOf(object), object.metadata, { uid, signal });
        const level = object.kind === 'Exposure' ? 'warn' : 'info';
        this.#log[level]('object removed from the folder, deleting it', { object: identity, file });
      },
    );
  }

  /** Returns a failed write as a fault of the file. The next sync retries it. */
  async #faultOnError(
    file: string,
    failure: string,
    write: () => Promise<void>,
  ): Promise<FolderFault | undefined> {
    try {
      await write();
      return undefined;
    } catch (error) {
      if (!isKubeError(error) || this.#signal.aborted) throw error;
      return { file, sentence: `${failure}: ${error.message}` };
    }
  }
}
