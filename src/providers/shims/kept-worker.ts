/**
 * What an object says of the proxies of its tenant, in the Exposure that is made of it. Its provider's own proxy has to be
 * removed for Snicket's to come, and these words go with it: so the Exposure has a note of them, and keeps them.
 */
import * as z from 'zod';
import { valueAt } from '../../kube/unstructured.ts';
import { comparisons } from '../../kube/apply/differences.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { WorkerWords } from './shim-words.ts';

/** On an Exposure: the fields of its `spec.worker` that an object has brought. */
const WORKER_ANNOTATION = 'snicket.dev/worker-of-provider';

const words = z.record(z.string(), z.json());

/** The words of an object that has none any more: those of before, but for what somebody has changed in the Exposure. */
export function keptWorker(existing: KubeObject | undefined): WorkerWords {
  const noted = notedIn(existing);
  const present = valueAt(existing, 'spec', 'worker');
  return Object.fromEntries(
    Object.entries(noted).filter(([field, value]) => {
      // The API server fills in defaults.
      return comparisons({ value }, { value: valueAt(present, field) }).length === 0;
    }),
  );
}

/** The annotations of an Exposure with these words. */
export function workerNote(worker: WorkerWords): Readonly<Record<string, string>> {
  return Object.keys(worker).length === 0 ? {} : { [WORKER_ANNOTATION]: JSON.stringify(worker) };
}

function notedIn(existing: KubeObject | undefined): WorkerWords {
  const text = existing?.metadata.annotations?.[WORKER_ANNOTATION];
  if (text === undefined) return {};
  try {
    return words.parse(JSON.parse(text));
  } catch {
    return {}; // somebody else's text: nothing is known to be kept
  }
}
