/**
 * Findings that prevent the preparation of any provider's object, or make it pointless.
 */
import { objectText, type KubeObject } from '../../kube/object.ts';
import { listAt, valueAt } from '../../kube/unstructured.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { pathText, valueBehind, type DesiredField } from './preparation.ts';

/** Returns the finding that the control plane is being deleted, so that nothing is written. */
export function deletingFindings(object: KubeObject): readonly Finding[] {
  if (object.metadata.deletionTimestamp === undefined) return [];
  return [
    {
      code: 'ControlPlaneMissing',
      severity: 'error',
      message: `${objectText(object)} is being deleted, so Snicket does not write to it.`,
      action: 'Delete the Exposure too, or recreate the control plane.',
    },
  ];
}

/**
 * Warns about a Service type with a separate address. Snicket does not change it: nodes may have joined by that
 * address and would lose their API server.
 */
export function serviceTypeFindings(
  object: KubeObject,
  field: string,
  type: string | undefined,
): readonly Finding[] {
  if (type === undefined || type === 'ClusterIP') return [];
  return [
    {
      code: 'ServiceTypeNotNeeded',
      severity: 'warning',
      message: `Field ${field} of ${objectText(object)} is ${type}, so the control plane has an address besides that of the edge.`,
      action:
        'Set it to ClusterIP once no node and no kubeconfig uses that address, and remove the fields that only a load balancer needs.',
    },
  ];
}

/** More than any real certificate or command line has. Each plan reads, compares and writes the whole list. */
const MAX_ENTRIES = 1_000;

/** Returns the finding that a list is too long to add entries. */
export function longListFindings(live: KubeObject, { path }: DesiredField): readonly Finding[] {
  const { length } = listAt(live, ...path);
  if (length <= MAX_ENTRIES) return [];
  return [
    {
      code: 'FieldInvalid',
      severity: 'error',
      message: `Field ${pathText(path).slice(1)} of ${objectText(live)} has ${length} entries, but Snicket only writes lists of up to ${MAX_ENTRIES}.`,
      action: 'Remove the entries that are not needed.',
    },
  ];
}

/**
 * Returns the finding that a unique entry occurs more than once, so that it is unclear which one takes effect and which
 * one to restore.
 */
export function repeatedEntryFindings(base: KubeObject, desired: DesiredField): readonly Finding[] {
  const { path } = desired;
  const list = listAt(base, ...path);
  const desiredEntries = 'entries' in desired ? desired.entries : [];
  return desiredEntries.flatMap((desired): readonly Finding[] => {
    const { entry, replaces } = desired;
    const found = replaces === undefined ? [] : list.filter(replaces);
    if (found.length < 2) return [];
    if (found.every((other) => Bun.deepEquals(other, entry)) || desired.isMet?.(list) === true)
      return [];
    const shown = found.map((other) => quoted(JSON.stringify(other), MAX_SHOWN)).join(', ');
    return [
      {
        code: 'FieldInvalid',
        severity: 'error',
        message: `Field ${pathText(path).slice(1)} of ${objectText(base)} has ${shown}, but only one of them can take effect.`,
        action: 'Remove all but one.',
      },
    ];
  });
}

/**
 * Returns the finding that a flag has its value in the next argument. Replacing only the flag would leave the value
 * behind.
 */
export function separateValueFindings(base: KubeObject, desired: DesiredField): readonly Finding[] {
  const { path } = desired;
  const list = listAt(base, ...path);
  const desiredEntries = 'entries' in desired ? desired.entries : [];
  return desiredEntries.flatMap(({ isMet, replaces }): readonly Finding[] => {
    const index = replaces === undefined ? -1 : list.findIndex(replaces);
    const flag = list[index];
    if (isMet?.(list) === true || typeof flag !== 'string' || flag.includes('=')) return [];
    const value = valueBehind(list, index);
    if (value === undefined) return [];
    return [
      {
        code: 'FieldInvalid',
        severity: 'error',
        message: `Field ${pathText(path).slice(1)} of ${objectText(base)} has "${quoted(flag)}" and "${quoted(value)}" as two entries, but Snicket replaces only one entry.`,
        action: `Write "${quoted(`${flag}=${value}`)}" as one entry.`,
      },
    ];
  });
}

const MAX_SHOWN = 80;

/** Returns the findings about values of another type at the paths to write. Writing would lose these values. */
export function wrongTypeFindings(
  base: KubeObject,
  desiredFields: readonly DesiredField[],
): readonly Finding[] {
  const checks = desiredFields.flatMap((desired) => {
    const blocks = desired.path.slice(1).map((_, index) => desired.path.slice(0, index + 1));
    const wanted = 'entries' in desired ? 'list' : 'scalar';
    return [...blocks.map((path) => ({ path, wanted: 'mapping' })), { path: desired.path, wanted }];
  });
  const unique = new Map(checks.map((check) => [pathText(check.path), check]));
  return [...unique.values()].flatMap(({ path, wanted }): readonly Finding[] => {
    const value = valueAt(base, ...path);
    if (value === undefined || value === null || typeName(value) === wanted) return [];
    return [
      {
        code: 'FieldInvalid',
        severity: 'error',
        message: `Field ${pathText(path).slice(1)} of ${objectText(base)} is ${quoted(JSON.stringify(value), MAX_SHOWN)}, but must be a ${wanted}.`,
        action: `Change it to a ${wanted}, or remove it.`,
      },
    ];
  });
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'mapping' : 'scalar';
}
