/**
 * Writes the record of a preparation to its Exposure.
 */
import type { ObjectClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { nextRecord, type PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import {
  isUsable,
  RECORD_ANNOTATION,
  recordOf,
  recordText,
} from '../../providers/preparation/record.ts';

/** A change of the annotation. */
export interface RecordChange {
  /** Null: it is removed. */
  readonly to: string | null;
  /** The uids of the objects that the record names then. */
  readonly uids: readonly string[];
}

/** The change of the record before or after the plans are applied; undefined if the record is up to date. */
export function recordChange(
  exposure: KubeObject,
  plans: readonly PreparationPlan[],
  when: 'before' | 'after',
): RecordChange | undefined {
  const record = recordOf(exposure);
  if (!isUsable(record)) return undefined;
  const next = nextRecord(record, plans, when);
  const current = exposure.metadata.annotations?.[RECORD_ANNOTATION] ?? null;
  const to = recordText(exposure, next);
  // A record that is too long is a finding, and is not written.
  if (to === undefined || to === current) return undefined;
  if (to !== null && Bun.deepEquals(next.objects, record.objects)) return undefined;
  return { to, uids: to === null ? [] : next.objects.map(({ uid }) => uid) };
}

/**
 * Writes or removes the record, and returns the Exposure after that. Undefined if the Exposure has changed meanwhile: then nothing
 * is written. @throws KubeError
 */
export async function writeRecord(
  client: ObjectClient,
  { name, namespace, resourceVersion }: ObjectMeta,
  text: string | null,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const patch = { metadata: { resourceVersion, annotations: { [RECORD_ANNOTATION]: text } } };
  try {
    const key = { name, namespace };
    return await client.patch(RESOURCES.exposure, key, 'merge', patch, { signal });
  } catch (error) {
    if (isKubeError(error, 'Conflict', 'NotFound')) return undefined;
    throw error;
  }
}
