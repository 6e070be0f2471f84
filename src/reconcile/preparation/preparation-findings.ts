/**
 * Findings about a control plane's object that is not prepared or that differs from the spec.
 */
import type { ConflictOwner } from '../../kube/apply/conflict.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { objectText, type KubeObject, type ManagedFields } from '../../kube/object.ts';
import { quoted } from '../../text/quote.ts';
import { valueAt } from '../../kube/unstructured.ts';
import type { Finding } from '../../api/finding.ts';
import type { FieldState, PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import { OWN_MANAGER, otherOwners } from '../../providers/preparation/field-owners.ts';
import { pathText } from '../../providers/preparation/preparation.ts';
import { sentence } from '../../text/sentence.ts';

const YOURSELF = 'Set the fields yourself (snicket render shows them as YAML)';

/** Other field managers own fields that would change: one finding for each of them. */
export function conflictFindings(
  plan: PreparationPlan,
  owners: readonly ConflictOwner[],
): readonly Finding[] {
  return owners.map(({ manager, fields }) => ({
    code: 'FieldConflict',
    severity: 'error',
    message: `Field manager ${quoted(manager)} owns ${fields.map((field) => ownedText(plan, field)).join(', ')} of ${objectText(plan.live)}, so Snicket wrote nothing.`,
    action: `${YOURSELF} where ${quoted(manager)} sets its own, or set prepare: Force.${existingHostsText(plan)}`,
  }));
}

/** The same without a write: the field managers that own a field that would change. */
export function plannedConflicts(plan: PreparationPlan): readonly Finding[] {
  const restored = new Set(plan.restoredValues.map(({ path }) => pathText(path)));
  const written = plan.differing.filter(({ path }) => !restored.has(pathText(path)));
  // An API server always sets managedFields, so this is an object of a file.
  if (plan.live.metadata.managedFields === undefined) return fileConflicts(plan, written);
  const owned = written.flatMap(({ path }) =>
    otherOwners(plan.live, path).map(({ manager = '' }) => ({ manager, field: pathText(path) })),
  );
  const byManager = Map.groupBy(owned, ({ manager }) => manager);
  const owners = [...byManager].map(([manager, fields]) => ({
    manager,
    fields: [...new Set(fields.map(({ field }) => field))],
  }));
  return conflictFindings(plan, owners);
}

/** A client that applies a file owns the fields in it. */
function fileConflicts(plan: PreparationPlan, written: readonly FieldState[]): readonly Finding[] {
  const present = written.filter(({ current }) => current !== undefined);
  if (present.length === 0) return [];
  const fields = present.map(({ path }) => ownedText(plan, pathText(path))).join(', ');
  return [
    {
      code: 'FieldConflict',
      severity: 'error',
      message: `The file of ${objectText(plan.live)} sets ${fields}. The field manager that applies it owns these fields, so Snicket writes nothing.`,
      action: `${YOURSELF} in the file, or set prepare: Force.${existingHostsText(plan)}`,
    },
  ];
}

function ownedText({ fields, live }: PreparationPlan, field: string): string {
  const known = fields.find(({ path }) => pathText(path) === field);
  if (known === undefined) return field;
  return `${field} (${shown(valueAt(live, ...known.path))}, desired ${shown(known.wanted)})`;
}

/** Policy Report: the fields that the user has to write. */
export function wantedFinding(plan: PreparationPlan): Finding {
  const { live, differing } = plan;
  return {
    code: 'PreparationRequired',
    severity: 'error',
    message: `${objectText(live)} lacks fields that it needs behind the edge: ${fieldsText(differing)}.`,
    action: `${YOURSELF}, or set prepare: Patch.${existingHostsText(plan)}`,
  };
}

/** The fields that the chart has not rendered, although its values are set. */
export function awaitedFindings(plans: readonly PreparationPlan[]): readonly Finding[] {
  return plans
    .filter(({ awaited }) => awaited.length > 0)
    .map(({ live, awaited }) => ({
      code: 'ChartValuesUnconfirmed',
      severity: 'error',
      message: `The chart has not passed all values to ${objectText(live)}: ${fieldsText(awaited)}.`,
      action:
        'Wait for the condition HelmReleaseReady of the ClusterDeployment. If this persists, the chart does not read the values: set its own values for the ingress, or expose the K0smotronControlPlane instead, with prepare: Force.',
    }));
}

/** Fields with a host, by name, and the field of the Exposure that sets it. */
const HOST_FIELDS: Readonly<Record<string, string>> = {
  hostname: 'spec.hosts.api',
  apiHost: 'spec.hosts.api',
  konnectivityHost: 'spec.hosts.konnectivity',
};

/** How to keep hosts that the object has already: an Exposure that sets none derives others. */
function existingHostsText({ differing }: PreparationPlan): string {
  const hostIn = (value: unknown) => (typeof value === 'string' ? value.replace(/:\d+$/, '') : '');
  const existing = differing.flatMap(({ path, current: now, wanted }) => {
    const [field, host] = [HOST_FIELDS[path.at(-1) ?? ''], hostIn(now)];
    return field === undefined || host === '' || host === hostIn(wanted)
      ? []
      : `${field}: ${quoted(host)}`;
  });
  if (existing.length === 0) return '';
  return ` To keep the current hosts, set ${existing.join(' and ')} in the Exposure.`;
}

/** The API server, or a webhook of the provider, rejects the write. */
export function refusedFinding({ live }: PreparationPlan, error: KubeError): Finding {
  return {
    code: 'PreparationRejected',
    severity: 'error',
    message: sentence(`${objectText(live)} could not be written: ${quoted(error.message)}`),
    action: 'Correct the object or the Exposure.',
  };
}

/** Snicket has no permission to write the object. */
export function forbiddenFinding({ live, resource }: PreparationPlan): Finding {
  return {
    code: 'PermissionMissing',
    severity: 'error',
    message: `Snicket is not allowed to write ${objectText(live)}.`,
    action: `Add the verb patch on ${resource.plural} to its ClusterRole, or set prepare: Report.`,
  };
}

/** The write succeeded, but a webhook has changed it. */
export function notKeptFinding(live: KubeObject, fields: readonly FieldState[]): Finding {
  return {
    code: 'PreparationRejected',
    severity: 'error',
    message: `${objectText(live)} was written, but a webhook changed it: ${fieldsText(fields)}.`,
    action: YOURSELF,
  };
}

/** Another client reverts the fields. The text is constant, because each change of it would be a status write. */
export function contestedFinding(
  { live, differing }: PreparationPlan,
  since: Date | undefined,
): Finding {
  const owners = managersIn(differing.flatMap(({ path }) => otherOwners(live, path)));
  // A client that removes a field owns nothing afterwards.
  const others = managersIn(
    (live.metadata.managedFields ?? []).filter(({ manager }) => manager !== OWN_MANAGER),
  );
  const who = owners === '' ? 'Another client' : `Field manager ${owners}`;
  const when = since === undefined ? '' : `, since ${since.toISOString().slice(0, 19)}Z`;
  const suspects = owners === '' && others !== '' ? ` (other field managers: ${others})` : '';
  return {
    code: 'FieldConflict',
    severity: 'error',
    message: `${who} reverts Snicket's changes to ${objectText(live)}${when}${suspects}: ${fieldsText(differing)}.`,
    action: `${YOURSELF}, or stop the other writer. Snicket retries with increasing delays.`,
  };
}

function managersIn(entries: readonly ManagedFields[]): string {
  const names = new Set(entries.flatMap(({ manager }) => manager ?? []));
  return [...names]
    .toSorted()
    .map((name) => quoted(name))
    .join(', ');
}

/** Other clients write the object all the time. */
export function busyFinding(objects: readonly KubeObject[]): Finding {
  return {
    code: 'FieldConflict',
    severity: 'error',
    message: `Other clients write ${objects.map(objectText).join(', ')} so often that Snicket could not.`,
    action: 'No action is needed. Snicket retries.',
  };
}

/** The object was deleted while it was being prepared. */
export function goneFinding(live: KubeObject): Finding {
  return {
    code: 'ControlPlaneMissing',
    severity: 'error',
    message: `${objectText(live)} was deleted while Snicket prepared it.`,
    action: 'Create it again, or delete the Exposure.',
  };
}

function fieldsText(fields: readonly FieldState[]): string {
  return fields
    .map(
      ({ path, current: now, wanted }) =>
        `${pathText(path)} is ${shown(now)}, desired ${shown(wanted)}`,
    )
    .join('; ');
}

function shown(value: unknown): string {
  return value === undefined ? 'unset' : quoted(JSON.stringify(value), 120);
}
