/**
 * Restores the objects of providers: every field that existed gets its previous value, every field that did not is removed.
 * What others have changed since stays. The process may end after every step: the record of the Exposure is removed last,
 * when a read has confirmed that nothing is left to restore.
 */
import type { ObjectClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { findingText } from '../../api/finding.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { listAt, valueAt } from '../../kube/unstructured.ts';
import type { ControlPlaneObjects } from '../../providers/reading/control-plane-reading.ts';
import { appliedPaths, ownersPatch, released } from '../../providers/preparation/field-owners.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import {
  bodyOf,
  previousValues,
  recordFinding,
  stayingFields,
} from '../../providers/preparation/plan-preparation.ts';
import { pathText } from '../../providers/preparation/preparation.ts';
import {
  isUsable,
  recordOf,
  type FieldRecord,
  type ListRecord,
  type ObjectRecord,
} from '../../providers/preparation/record.ts';
import { previousValue } from '../../providers/preparation/undo.ts';
import { providerFor } from '../../providers/provider-for.ts';
import type { Provider } from '../../providers/provider.ts';
import { quoted } from '../../text/quote.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { writeRecord } from './record-writes.ts';
import { sentence } from '../../text/sentence.ts';

interface RestoreInput {
  /** The Exposure whose record names the objects. */
  readonly exposure: KubeObject;
  /** The kind in the version that the cluster serves. */
  readonly servedAs: (resource: Resource) => Resource;
  readonly objects: ControlPlaneObjects;
  /** Whether to stop waiting for the provider. */
  readonly isLate: boolean;
  /** Called after the write to the Exposure, so that later writes of the same reconcile carry the new version. */
  readonly wrote?: (before: KubeObject, after: KubeObject) => void;
}

const MAX_ATTEMPTS = 6;

/** Restores all objects and removes the record. Returns what it waits for; undefined when done. @throws KubeError */
export async function restore(
  client: ObjectClient,
  { exposure: { metadata }, servedAs, objects, isLate, wrote }: RestoreInput,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const exposure = await client.get(RESOURCES.exposure, metadata, { signal });
    if (exposure === undefined || exposure.metadata.uid !== metadata.uid) return undefined;
    const record = recordOf(exposure);
    if (!isUsable(record)) return findingText(recordFinding(exposure, record));
    if (record.objects.length === 0) return undefined;
    for (const object of record.objects) {
      const provider = providerFor({ apiVersion: `${object.group}/`, kind: object.kind });
      if (provider === undefined) continue; // no provider writes such an object
      const resource = servedAs(provider.resource);
      const target = { client, resource, provider, objects, isLate };
      const rest = await restoreOne(object, { ...target, namespace: metadata.namespace }, signal);
      if (rest !== undefined) return rest;
    }
    const written = await writeRecord(client, exposure.metadata, null, signal);
    if (written !== undefined) {
      wrote?.(exposure, written);
      return undefined;
    }
  }
  return `Other clients keep changing Exposure ${keyText(metadata)}.`;
}

interface RestoreTarget {
  readonly client: ObjectClient;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly provider: Provider;
  readonly objects: ControlPlaneObjects;
  readonly isLate: boolean;
}

/** The result of one step. */
type Step =
  | { readonly next: 'done' | 'again' }
  | { readonly next: 'wait'; readonly because: string };

/** An object that is gone, that is being deleted, or that came after the recorded one needs no restoring. */
async function restoreOne(
  { name, uid, fields }: ObjectRecord,
  target: RestoreTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { client, resource, namespace } = target;
  const key = { name, namespace };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const live = await client.get(resource, key, { signal });
    if (live === undefined || live.metadata.uid !== uid) return undefined;
    if (live.metadata.deletionTimestamp !== undefined) return undefined;
    try {
      const step = await nextStep(live, fields, target, signal);
      if (step.next === 'done') return undefined;
      if (step.next === 'wait') return step.because;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      if (isKubeError(error, 'Invalid', 'Forbidden')) {
        return sentence(`${objectText(live)} cannot be restored: ${quoted(error.message)}`);
      }
      // Another client wrote in between: read again.
      if (!isKubeError(error, 'Conflict')) throw error;
    }
  }
  return `Other clients keep changing ${resource.kind} ${keyText(key)}.`;
}

async function nextStep(
  live: KubeObject,
  fields: readonly FieldRecord[],
  target: RestoreTarget,
  signal: AbortSignal,
): Promise<Step> {
  const { client, resource } = target;
  const { resourceVersion, managedFields = [] } = live.metadata;
  const emptied = new Set(target.provider.clearedBeforeRemoval.map(pathText));
  const values = previousValues(live, fields).filter(
    ({ path, value }) => value !== null || !emptied.has(pathText(path)),
  );
  if (values.length > 0) {
    const tree = treeOf(values.map(({ path, value }) => [path, value] as const));
    const patch = { metadata: { resourceVersion }, ...tree };
    await client.patch(resource, live.metadata, 'merge', patch, { signal });
    return { next: 'again' };
  }
  // Release field ownership so that later applies do not conflict with Snicket.
  const left = released(managedFields, stayingFields(live, fields));
  if (!Bun.deepEquals(left, managedFields)) {
    const patch = ownersPatch(live.metadata, left);
    await client.patch(resource, live.metadata, 'merge', patch, { signal });
    return { next: 'again' };
  }
  const step = await emptyFirst(live, fields, target, signal);
  if (step !== undefined) return step;
  if (appliedPaths(live).length === 0) return { next: 'done' };
  // An apply of nothing removes what only Snicket owns.
  await client.apply(bodyOf(live, []), { resource, signal });
  return { next: 'again' };
}

/** Empties lists that the provider must observe as empty before they are removed. */
async function emptyFirst(
  live: KubeObject,
  fields: readonly FieldRecord[],
  { client, resource, provider, objects, isLate }: RestoreTarget,
  signal: AbortSignal,
): Promise<Step | undefined> {
  const paths = new Set(provider.clearedBeforeRemoval.map(pathText));
  const lists = fields.filter(
    (field): field is ListRecord =>
      'entries' in field && paths.has(pathText(field.path)) && isToGo(live, field),
  );
  if (lists.length === 0) return undefined;
  if (lists.some(({ path }) => listAt(live, ...path).length > 0)) {
    const empty = lists.map(({ path }) => ({ path, wanted: [] }));
    // Another client may have changed the list, but its entries are only ours.
    await client.apply(bodyOf(live, empty), { resource, force: true, signal });
    return { next: 'again' };
  }
  const entries = lists.flatMap((list) => list.entries.map(({ entry }) => entry));
  const rollout = await provider.pendingRollout(live, entries, objects);
  if (rollout === undefined || isLate) return undefined;
  return { next: 'wait', because: rollout };
}

/** Whether a list exists that did not exist before and has no entries of others. */
function isToGo(live: KubeObject, list: ListRecord): boolean {
  return valueAt(live, ...list.path) !== undefined && previousValue(live, list) === undefined;
}
