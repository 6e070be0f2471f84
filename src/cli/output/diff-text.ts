/**
 * Changes as text, and as values for JSON and YAML.
 */
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { escapedJson, escapedText } from '../../text/plain-text.ts';
import type { Finding } from '../../api/finding.ts';
import type { FieldChange, ObjectChange } from '../../plan/changes.ts';
import { CLUSTERS, type Cluster } from '../../plan/render.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';

/** A change and its cluster. */
export interface ClusterChange extends ObjectChange {
  readonly cluster: Cluster;
}

/** All changes for one Exposure. */
interface ExposureChanges {
  readonly exposure: KubeObject;
  readonly changes: readonly ClusterChange[];
  readonly findings: readonly Finding[];
}

/** Returns the changes in both clusters, or in one. */
export function exposureChanges(
  { object, changes, findings }: Pick<DryRun, 'object' | 'changes' | 'findings'>,
  only?: Cluster,
): ExposureChanges {
  const clusters = only === undefined ? CLUSTERS : [only];
  const all = clusters.flatMap((cluster) =>
    changes[cluster].map((change): ClusterChange => ({ ...change, cluster })),
  );
  return { exposure: object, changes: all, findings };
}

const SIGNS = { create: '+', change: '~', delete: '-' } as const;

/** ANSI color codes: green, yellow, red. */
const COLORS: Readonly<Record<string, number>> = { '+': 32, '~': 33, '-': 31 };

/** Maximum length of a value in the text. JSON has the whole value. */
const MAX_VALUE_LENGTH = 160;

/** Returns a line for each changed object and for each of its changed fields; empty if there are none. */
export function changesText(
  { exposure, changes }: Pick<ExposureChanges, 'exposure' | 'changes'>,
  hasColors: boolean,
): string {
  if (changes.length === 0) return '';
  const line = (sign: string, indent: string, text: string) => {
    const whole = `${indent}${sign} ${text}`;
    return hasColors ? `\u001B[${COLORS[sign] ?? 0}m${whole}\u001B[0m` : whole;
  };
  const lines = changes.flatMap(({ action, cluster, object, fields, waits }) => [
    line(
      SIGNS[action],
      '  ',
      `${cluster.padEnd(10)} ${objectText(object)}${waits ? waitText(action) : ''}`,
    ),
    ...fields.map((field) => line(signOf(field), '      ', fieldText(field))),
  ]);
  return [objectText(exposure), ...lines, ''].join('\n');
}

/**
 * Returns what a change waits for. Changes that wait are to endpoints that another controller owns, and to routes of
 * the previous driver.
 */
function waitText(action: ObjectChange['action']): string {
  return action === 'delete'
    ? ' (not before the Exposure is Ready with the driver of its Edge: clients may still use the previous routes)'
    : ' (not before a proxy is ready: the endpoints that are there are not ours, and work)';
}

function signOf(field: FieldChange): string {
  if (!('from' in field)) return '+';
  return 'to' in field ? '~' : '-';
}

function fieldText(field: FieldChange): string {
  const values = [
    ...('from' in field ? [valueText(field.from)] : []),
    ...('to' in field ? [valueText(field.to)] : []),
  ];
  return `${escapedText(field.path)}: ${values.join(' -> ')}`;
}

/** A word, or the placeholder of a secret. */
const BARE = /^[^\s\p{C}"'{}[\],#]+$|^\([^\p{C}]*\)$/u;
/** A word that JSON reads as something other than a string. */
const JSON_WORD = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Returns a value as text, without quotes if that is unambiguous. */
function valueText(value: unknown): string {
  const isBare = typeof value === 'string' && BARE.test(value) && !JSON_WORD.test(value);
  const text = isBare ? value : escapedJson(JSON.stringify(value) ?? String(value));
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}...` : text;
}

/** Returns the changes as a value for JSON and YAML. */
export function changesValue({ exposure, changes, findings }: ExposureChanges): object {
  return {
    exposure: keyText(exposure.metadata),
    changes: changes.map(({ action, cluster, object, fields, waits }) => ({
      cluster,
      action,
      apiVersion: object.apiVersion,
      kind: object.kind,
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      waits,
      fields,
    })),
    findings: findings.map(({ code, severity, message, action }) => ({
      code,
      severity,
      message,
      action,
    })),
  };
}
