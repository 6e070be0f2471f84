/**
 * What is said of a control plane's object that is not prepared, or not as wished.
 */
import { conflictOwners } from '../../kube/apply-conflict.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { quoted } from '../../kube/quote.ts';
import { valueAt } from '../../edges/fields.ts';
import type { Finding } from '../../api/finding.ts';
import type { FieldState, PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import { pathText } from '../../providers/preparation/preparation.ts';

const YOURSELF = 'put the fields there yourself (snicket render shows them as YAML)';

/** Somebody else has fields that would change: one finding for each of the others. */
export function conflictFindings(plan: PreparationPlan, error: KubeError): readonly Finding[] {
  return conflictOwners(error).map(({ manager, fields }) => ({
    ...{ code: 'FieldConflict', severity: 'error' },
    message: `${quoted(manager)} owns ${fields.map((field) => ownedText(plan, field)).join(', ')} of ${objectText(plan.live)}, so nothing was written`,
    action: `${YOURSELF}, where ${quoted(manager)} has its own; or write prepare: Force`,
  }));
}

function ownedText({ fields, live }: PreparationPlan, field: string): string {
  const known = fields.find(({ path }) => pathText(path) === field);
  if (known === undefined) return field;
  return `${field} (${shown(valueAt(live, ...known.path))}, wanted ${shown(known.wanted)})`;
}

/** Policy Report: what has to be done by others. */
export function wantedFinding({ live, differing }: PreparationPlan): Finding {
  return {
    ...{ code: 'PreparationWanted', severity: 'error' },
    message: `${objectText(live)} lacks what it needs to be behind the edge: ${fieldsText(differing)}`,
    action: `${YOURSELF}, or write prepare: Patch`,
  };
}

/** The API server, or a webhook of the provider, does not take it. */
export function refusedFinding({ live }: PreparationPlan, error: KubeError): Finding {
  return {
    ...{ code: 'PreparationRefused', severity: 'error' },
    message: `${objectText(live)} could not be written: ${quoted(error.message)}`,
    action: 'correct what is said there, in the object or in the Exposure',
  };
}

/** Snicket has no right to. */
export function forbiddenFinding({ live, resource }: PreparationPlan): Finding {
  return {
    ...{ code: 'PreparationForbidden', severity: 'error' },
    message: `Snicket may not write ${objectText(live)}`,
    action: `give its ClusterRole the verb patch on ${resource.plural}, or write prepare: Report`,
  };
}

/** Taken, and not kept. */
export function notKeptFinding(live: KubeObject, fields: readonly FieldState[]): Finding {
  return {
    ...{ code: 'PreparationNotKept', severity: 'error' },
    message: `${objectText(live)} was written, and does not have ${fieldsText(fields)}: a webhook changes it`,
    action: YOURSELF,
  };
}

/** Written a moment ago, and different again. */
export function contestedFinding({ live, differing }: PreparationPlan, waitMs: number): Finding {
  const managers = new Set(
    (live.metadata.managedFields ?? []).flatMap(({ manager }) =>
      manager === undefined || manager === 'snicket' ? [] : [manager],
    ),
  );
  return {
    ...{ code: 'PreparationContested', severity: 'error' },
    message: `somebody undoes what Snicket writes into ${objectText(live)}: ${fieldsText(differing)}. Others who write there: ${[...managers].map((one) => quoted(one)).join(', ') || 'none'}`,
    action: `${YOURSELF}, or end the other's writing; Snicket tries again in ${Math.ceil(waitMs / 1000)} s`,
  };
}

/** Others write it without a pause. */
export function busyFinding(objects: readonly KubeObject[]): Finding {
  return {
    ...{ code: 'PreparationBusy', severity: 'error' },
    message: `others write ${objects.map(objectText).join(', ')} so often that Snicket did not get to it`,
    action: 'nothing has to be done; it tries again',
  };
}

/** Deleted while it was being prepared. */
export function goneFinding(live: KubeObject): Finding {
  return {
    ...{ code: 'ControlPlaneGone', severity: 'error' },
    message: `${objectText(live)} was deleted while it was being prepared`,
    action: 'create it again, or delete the Exposure',
  };
}

function fieldsText(fields: readonly FieldState[]): string {
  return fields
    .map(({ path, now, wanted }) => `${pathText(path)} is ${shown(now)}, wanted ${shown(wanted)}`)
    .join('; ');
}

function shown(value: unknown): string {
  return value === undefined ? 'not there' : quoted(JSON.stringify(value), 120);
}
