/** Writes the Edges, Exposures and TenantRoutes with their statuses to a file, for `snicket status` and for people. */
import { join } from 'node:path';
import { writeAtomically } from '../../files/atomic-write.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { ApiObject, ObjectStore } from '../../kube/store/object-store.ts';
import { yamlText } from '../../manifests/yaml-text.ts';
import type { Logger } from '../../telemetry/log.ts';

/** Name of the file in the state folder. */
export const STATUS_FILE = 'status.yaml';

/** Changes come in bursts. All changes within this time after the first are written together. */
const BATCH_MS = 200;
/** The pause after a write is at least this many times its duration, since a thousand Exposures take a while. */
const PAUSE_FACTOR = 4;

/** A status file that is kept up to date. */
export interface StatusFile {
  /** Replaces the faults of the folder in the file, as sentences. */
  setFaults(faults: readonly string[]): void;
  /** Writes the file once more and stops. */
  stop(): void;
}

interface StatusFileOptions {
  readonly state: string;
  /** The absolute path of the folder of `snicket run`. */
  readonly folder: string;
  readonly store: ObjectStore;
  readonly log: Logger;
}

/** Writes the file now and after each change. */
export function startStatusFile({ state, folder, store, log }: StatusFileOptions): StatusFile {
  const path = join(state, STATUS_FILE);
  /** Cache of the formatted objects. Formatting one takes a millisecond, and most have not changed. */
  const texts = new WeakMap<ApiObject, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = BATCH_MS;
  let fault: string | undefined;
  let faults: readonly string[] = [];
  const write = () => {
    timer = undefined;
    const startMs = performance.now();
    try {
      writeAtomically(path, statusText(folder, store, texts, faults));
      fault = undefined;
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      if (sentence !== fault) log.error('status file not written', { file: path, error });
      fault = sentence;
    }
    pauseMs = Math.max(BATCH_MS, PAUSE_FACTOR * (performance.now() - startMs));
  };
  const writeSoon = () => (timer ??= setTimeout(write, pauseMs));
  const stop = store.listen(({ plural }) => {
    if (SHOWN.some((kind) => kind.plural === plural)) writeSoon();
  });
  write();
  return {
    setFaults(found) {
      if (Bun.deepEquals(found, faults)) return;
      faults = found;
      writeSoon();
    },
    stop() {
      stop();
      clearTimeout(timer);
      write();
    },
  };
}

const SHOWN = [RESOURCES.edge, RESOURCES.exposure, RESOURCES.tenantRoute];

/** Returns a List as `kubectl get -o yaml` writes it, with the folder and its faults beside the items. */
function statusText(
  folder: string,
  store: ObjectStore,
  texts: WeakMap<ApiObject, string>,
  faults: readonly string[],
): string {
  const items = SHOWN.flatMap((kind) => store.list(kind)).map((object) => {
    let text = texts.get(object);
    if (text === undefined) texts.set(object, (text = itemText(object)));
    return text;
  });
  const list = items.length === 0 ? ' []\n' : `\n${items.join('')}`;
  const faultsText = faults.length === 0 ? '' : yamlText({ faults });
  return `apiVersion: v1\nkind: List\n${yamlText({ folder })}${faultsText}items:${list}`;
}

function itemText(object: ApiObject): string {
  return yamlText([inUsualOrder(object)]);
}

/** Returns the object with its fields in the usual order, and without managedFields. */
function inUsualOrder({ apiVersion, kind, ...object }: ApiObject): ApiObject {
  const { managedFields: _, name, namespace, ...metadata } = object.metadata;
  const { spec, status } = object;
  const named = { name, ...(namespace !== undefined && { namespace }), ...metadata };
  return {
    apiVersion,
    kind,
    metadata: named,
    spec,
    ...(status !== undefined && { status }),
  };
}
