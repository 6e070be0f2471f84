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
  unreadableRecord,
  type Holder,
  type PreparationPlan,
} from '../../providers/preparation/plan-preparation.ts';
import { pathText } from '../../providers/preparation/preparation.ts';
import { RECORD_ANNOTATION, recordOf } from '../../providers/preparation/record.ts';
import { formerValue } from '../../providers/preparation/undo.ts';
import { resourceOfProvider } from '../../providers/provider-for.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import type { KnownWish } from '../management/exposure-book.ts';
import { preparationFor, type KnownExposures } from './exposure-preparation.ts';
import { foreseenConflicts } from './preparation-findings.ts';
import { findingsOf, isToWrite, withoutWriting } from './preparer.ts';
import { isHeldBy } from './restore.ts';

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

/** What an Exposure leads to. */
export function foreseenPreparation(
  wish: KnownWish,
  hosts: Hosts,
  provided: ProvidedFacts,
  exposures: KnownExposures,
): ForeseenPreparation {
  const input = preparationFor(wish, hosts, provided, exposures);
  const plans = planProvided(provided, input.wish, input.holder);
  const outcome = withoutWriting(plans, input.policy);
  const published =
    outcome?.isPrepared === true ? publishedFindings(provided, input.wish, input.policy) : [];
  const due = outcome === undefined ? plans.filter(isToWrite) : [];
  const conflicts = input.policy === 'Force' ? [] : due.flatMap(foreseenConflicts);
  return {
    plans,
    changes: conflicts.length > 0 ? [] : due.map(changeOf),
    isPrepared: outcome?.isPrepared ?? conflicts.length === 0,
    findings: [...conflicts, ...(outcome?.findings ?? findingsOf(plans)), ...published],
  };
}

/** What is put back when an Exposure leaves. */
export function foreseenRestoration(
  { objects }: Pick<ProvidedFacts, 'objects'>,
  holder: Holder,
): Omit<ForeseenPreparation, 'plans' | 'isPrepared'> {
  const held = objects.filter((object) => isHeldBy(object, holder));
  const findings = held
    .filter((object) => recordOf(object) === 'unreadable')
    .map((object) => unreadableRecord(object, resourceOfProvider(object)));
  return { changes: restorations(held), findings };
}

function restorations(held: readonly KubeObject[]): readonly ProvidedChange[] {
  return held.flatMap((object) => {
    const record = recordOf(object);
    if (record === undefined || record === 'unreadable') return [];
    const fields = record.fields.flatMap((field) =>
      fieldChange(field.path, valueAt(object, ...field.path), formerValue(object, field)),
    );
    return [{ object, fields: [...fields, ...recordChange(object, undefined)] }];
  });
}

function changeOf({ live, differing, putBack, body }: PreparationPlan): ProvidedChange {
  const wanted = differing.flatMap(({ path, now, wanted: to }) => fieldChange(path, now, to));
  const back = putBack.flatMap(({ path, value }) =>
    fieldChange(path, valueAt(live, ...path), value ?? undefined),
  );
  const record = body.metadata.annotations?.[RECORD_ANNOTATION];
  return { object: live, fields: [...wanted, ...back, ...recordChange(live, record)] };
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

/** The note of how fields were is a field too. */
function recordChange(live: KubeObject, to: string | undefined): readonly FieldChange[] {
  const from = live.metadata.annotations?.[RECORD_ANNOTATION];
  return fieldChange(['metadata', 'annotations', RECORD_ANNOTATION], from, to);
}
