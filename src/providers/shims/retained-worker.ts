/**
 * Worker settings from a provider's object, in the generated Exposure. A user must remove the provider's own proxy
 * before Snicket's can run, and its settings with it. The Exposure therefore records these settings in an annotation
 * and retains them.
 */
import * as z from 'zod';
import { valueAt } from '../../kube/unstructured.ts';
import { comparisons } from '../../kube/apply/differences.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { WorkerFields } from './shim-intent.ts';

/** The annotation of an Exposure with the fields of `spec.worker` that come from a provider's object. */
const WORKER_ANNOTATION = 'snicket.dev/worker-of-provider';

const workerFields = z.record(z.string(), z.json());

/**
 * Returns the retained settings for an object without any: the recorded ones, except those that another client has
 * changed in the Exposure.
 */
export function retainedWorker(existing: KubeObject | undefined): WorkerFields {
  const recorded = recordedIn(existing);
  const present = valueAt(existing, 'spec', 'worker');
  return Object.fromEntries(
    Object.entries(recorded).filter(([field, value]) => {
      // The comparison ignores fields that the API server has added as defaults.
      return comparisons({ value }, { value: valueAt(present, field) }).length === 0;
    }),
  );
}

/** Returns the annotation of an Exposure with these settings. */
export function workerAnnotation(worker: WorkerFields): Readonly<Record<string, string>> {
  return Object.keys(worker).length === 0 ? {} : { [WORKER_ANNOTATION]: JSON.stringify(worker) };
}

function recordedIn(existing: KubeObject | undefined): WorkerFields {
  const text = existing?.metadata.annotations?.[WORKER_ANNOTATION];
  if (text === undefined) return {};
  try {
    return workerFields.parse(JSON.parse(text));
  } catch {
    return {}; // not written by Snicket: nothing to retain
  }
}
