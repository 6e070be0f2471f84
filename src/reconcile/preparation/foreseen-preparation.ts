/**
 * What would be written into the objects of providers, without writing it: for tools that show it.
 */
import { valueAt } from '../../kube/unstructured.ts';
import type { Hosts } from '../../api/hosts.ts';
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { FieldChange } from '../../plan/changes.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { planProvided } from '../../providers/plan-provided.ts';
import {
  recordFinding,
  type PreparationPlan,
} from '../../providers/preparation/plan-preparation.ts';
import { pathText } from '../../providers/preparation/preparation.ts';
import {
  fieldsOf,
  isUsable,
  RECORD_ANNOTATION,
  recordOf,
} from '../../providers/preparation/record.ts';
import { formerValue } from '../../providers/preparation/undo.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import type { ResolvedExposure } from '../../management/exposure-book.ts';
import { preparationFor, type PreparationView } from './exposure-preparation.ts';
import { foreseenConflicts } from './preparation-findings.ts';
import { findingsOf, isToWrite, withoutWriting } from './preparer.ts';
import { recordChange } from './record-writes.ts';

/** An object of a provider, and the fields of it that would be others. */
export interface ProvidedChange {
  readonly object: KubeObject;
  readonly fields: readonly FieldChange[];
}

/** What would be done about the objects of a control plane. */
export interface ForeseenPreparation {
  /** What they must carry; none for an Exposure that leaves. */
  readonly plans: readonly PreparationPlan[];
  /** What the operator would write: nothing with prepare: Report, or where something is in the way. */
  readonly changes: readonly ProvidedChange[];
  /** Whether they carry all of it then. If not, nothing is brought to the tenant. */
  readonly isPrepared: boolean;
  readonly findings: readonly Finding[];
}

/** What an Exposure leads to; `object` is the Exposure with its record. */
export function foreseenPreparation(
  object: KubeObject,
  wish: ResolvedExposure,
  hosts: Hosts,
  provided: ProvidedFacts,
  view: PreparationView,
): ForeseenPreparation {
  const input = preparationFor(object, wish, hosts, provided, view);
  const plans = planProvided(provided, input.wish, input.owner);
  const outcome = withoutWriting(object, plans, input.policy);
  const published =
    outcome?.isPrepared === true ? publishedFindings(provided, input.wish, input.policy) : [];
  const due = outcome === undefined ? plans.filter(isToWrite) : [];
  const conflicts = input.policy === 'Force' ? [] : due.flatMap(foreseenConflicts);
  const isWriting = outcome === undefined && conflicts.length === 0;
  return {
    plans,
    changes: isWriting ? [...due.map(changeOf), ...recordChanges(object, plans)] : [],
    isPrepared: outcome?.isPrepared ?? conflicts.length === 0,
    findings: [...conflicts, ...(outcome?.findings ?? findingsOf(plans)), ...published],
  };
}

/** What is restored when an Exposure is cleaned up. */
export function foreseenRestoration(
  { objects }: Pick<ProvidedFacts, 'objects'>,
  exposure: KubeObject,
): Omit<ForeseenPreparation, 'plans' | 'isPrepared'> {
  const record = recordOf(exposure);
  if (!isUsable(record)) return { changes: [], findings: [recordFinding(exposure, record)] };
  const restored = objects.flatMap((object): readonly ProvidedChange[] => {
    const recorded = fieldsOf(record, object);
    if (recorded.length === 0 || object.metadata.deletionTimestamp !== undefined) return [];
    const fields = recorded.flatMap((field) =>
      fieldChange(field.path, valueAt(object, ...field.path), formerValue(object, field)),
    );
    return fields.length === 0 ? [] : [{ object, fields }];
  });
  const from = exposure.metadata.annotations?.[RECORD_ANNOTATION];
  const removed = recordField(from, undefined);
  return {
    changes: [...restored, ...(from === undefined ? [] : [{ object: exposure, fields: removed }])],
    findings: [],
  };
}

function changeOf({ live, differing, putBack }: PreparationPlan): ProvidedChange {
  const wanted = differing.flatMap(({ path, now, wanted: to }) => fieldChange(path, now, to));
  const back = putBack.flatMap(({ path, value }) =>
    fieldChange(path, valueAt(live, ...path), value ?? undefined),
  );
  return { object: live, fields: [...wanted, ...back] };
}

/** The record as it is when everything is written. */
function recordChanges(
  exposure: KubeObject,
  plans: readonly PreparationPlan[],
): readonly ProvidedChange[] {
  const change = recordChange(exposure, plans, 'after');
  if (change === undefined) return [];
  return [{ object: exposure, fields: recordField(change.from, change.to ?? undefined) }];
}

function fieldChange(path: readonly string[], from: unknown, to: unknown): readonly FieldChange[] {
  if (Bun.deepEquals(from, to)) return [];
  return [
    {
      path: pathText(path).slice(1),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  ];
}

function recordField(from: string | undefined, to: string | undefined): readonly FieldChange[] {
  return fieldChange(['metadata', 'annotations', RECORD_ANNOTATION], from, to);
}
