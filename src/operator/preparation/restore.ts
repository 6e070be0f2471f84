/**
 * Puts providers' objects back as they were before Snicket: every field that was there has its value again, every one
 * that was not is gone. What others have changed meanwhile is left to them. Every step can be the last one before a
 * restart: the record on the object is what goes last.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { findingText } from '../../api/finding.ts';
import { objectText, type KubeObject, type ManagedFields } from '../../kube/object.ts';
import { listAt, valueAt } from '../../kube/unstructured.ts';
import type {
  ControlPlaneObjects,
  ProvidedFacts,
} from '../../providers/reading/control-plane-reading.ts';
import { OWN_MANAGER, released } from '../../providers/preparation/field-owners.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import {
  bodyOf,
  formerValues,
  stayingFields,
  unreadableRecord,
  type Holder,
} from '../../providers/preparation/plan-preparation.ts';
import { pathText } from '../../providers/preparation/preparation.ts';
import {
  RECORD_ANNOTATION,
  recordOf,
  type ListRecord,
  type PreparationRecord,
} from '../../providers/preparation/record.ts';
import { formerValue } from '../../providers/preparation/undo.ts';
import { PROVIDERS, resourceOfProvider } from '../../providers/provider-for.ts';
import type { Provider } from '../../providers/provider.ts';
import { quoted } from '../../text/quote.ts';
import type { Resource } from '../../kube/resource.ts';

/** What it takes. */
export interface RestoreInput {
  readonly provided: Pick<ProvidedFacts, 'provider' | 'objects'>;
  /** The Exposure that leaves. */
  readonly holder: Holder;
  readonly objects: ControlPlaneObjects;
  /** Not to wait any longer for what a provider has to do first. */
  readonly isLate: boolean;
}

const MAX_ATTEMPTS = 5;

/** Puts all objects back; says what has to be waited for, and nothing when it is done. @throws KubeError */
export async function restore(
  client: KubeClient,
  { provided, holder, objects, isLate }: RestoreInput,
  signal: AbortSignal,
): Promise<string | undefined> {
  const provider = PROVIDERS[provided.provider];
  for (const object of provided.objects) {
    const place = { client, resource: resourceOfProvider(object), provider, objects, isLate };
    const rest = await restoreOne(object, place, holder, signal);
    if (rest !== undefined) return rest;
  }
  return undefined;
}

interface Place {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly provider: Provider;
  readonly objects: ControlPlaneObjects;
  readonly isLate: boolean;
}

/** What one look came to. */
type Step =
  | { readonly next: 'done' | 'again' }
  | { readonly next: 'wait'; readonly because: string };

async function restoreOne(
  object: KubeObject,
  place: Place,
  holder: Holder,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { client, resource } = place;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const live = await client.get(resource, object.metadata, { signal });
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return undefined;
    if (!isHeldBy(live, holder)) return undefined;
    try {
      const step = await nextStep(live, place, signal);
      if (step.next === 'done') return undefined;
      if (step.next === 'wait') return step.because;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      if (isKubeError(error, 'Invalid', 'Forbidden')) {
        return `${objectText(live)} cannot be put back as it was: ${quoted(error.message)}`;
      }
      // Somebody wrote in between: look again.
      if (!isKubeError(error, 'Conflict')) throw error;
    }
  }
  return `others write ${objectText(object)} all the time, or undo what is put back there`;
}

/**
 * Whether an object is to be put back for an Exposure. One that is being deleted takes its fields with it. One whose record
 * nobody can read may be anybody's: that has to be said.
 */
export function isHeldBy(live: KubeObject, { exposure, isThere }: Holder): boolean {
  const record = recordOf(live);
  if (record === undefined || live.metadata.deletionTimestamp !== undefined) return false;
  return record === 'unreadable' || record.exposure === exposure || !isThere(record.exposure);
}

async function nextStep(live: KubeObject, place: Place, signal: AbortSignal): Promise<Step> {
  const { client, resource } = place;
  const record = recordOf(live);
  if (record === undefined) return { next: 'done' };
  // What we own may be lists with the entries of others: without the record nobody knows which.
  if (record === 'unreadable') {
    return { next: 'wait', because: findingText(unreadableRecord(live, resource)) };
  }
  const { resourceVersion, managedFields = [] } = live.metadata;
  const emptied = new Set(place.provider.emptiedFirst.map(pathText));
  const values = formerValues(live, record.fields).filter(
    ({ path, value }) => value !== null || !emptied.has(pathText(path)),
  );
  if (values.length > 0) {
    const fields = treeOf(values.map(({ path, value }) => [path, value] as const));
    const patch = { metadata: { resourceVersion }, ...fields };
    await client.patch(resource, live.metadata, 'merge', patch, { signal });
    return { next: 'again' };
  }
  // Whoever wants a value otherwise that was put back would have a conflict with one who has left.
  const others = managedFields.filter((entry) => !isPatchOfOurs(entry));
  const left = released(others, stayingFields(live, record.fields));
  if (!Bun.deepEquals(left, managedFields)) {
    const patch = { metadata: { resourceVersion, managedFields: left } };
    await client.patch(resource, live.metadata, 'merge', patch, { signal });
    return { next: 'again' };
  }
  const step = await emptyFirst(live, record, place, signal);
  if (step !== undefined) return step;
  // An apply of nothing: what we alone own goes, and the record with it.
  await client.apply(bodyOf(live, []), { resource, signal });
  return { next: 'done' };
}

function isPatchOfOurs({ manager, operation, subresource }: ManagedFields): boolean {
  return manager === OWN_MANAGER && operation === 'Update' && subresource === undefined;
}

/** Lists that the provider has to see empty before they go. */
async function emptyFirst(
  live: KubeObject,
  record: PreparationRecord,
  { client, resource, provider, objects, isLate }: Place,
  signal: AbortSignal,
): Promise<Step | undefined> {
  const paths = new Set(provider.emptiedFirst.map(pathText));
  const lists = record.fields.filter(
    (field): field is ListRecord =>
      'entries' in field && paths.has(pathText(field.path)) && isToGo(live, field),
  );
  if (lists.length === 0) return undefined;
  if (lists.some(({ path }) => listAt(live, ...path).length > 0)) {
    const empty = lists.map(({ path }) => ({ path, wanted: [] }));
    const kept = { [RECORD_ANNOTATION]: live.metadata.annotations?.[RECORD_ANNOTATION] ?? '' };
    // Somebody may have changed the list: there is nothing in it but what is ours.
    await client.apply(bodyOf(live, empty, kept), { resource, force: true, signal });
    return { next: 'again' };
  }
  const entries = lists.flatMap((list) => list.entries.map(({ entry }) => entry));
  const lingering = await provider.lingering(live, entries, objects);
  if (lingering === undefined || isLate) return undefined;
  return { next: 'wait', because: lingering };
}

/** A list that is there, was not there before, and has nothing of anybody else. */
function isToGo(live: KubeObject, list: ListRecord): boolean {
  return valueAt(live, ...list.path) !== undefined && formerValue(live, list) === undefined;
}
