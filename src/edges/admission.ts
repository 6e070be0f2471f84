/**
 * Whether the controller of an edge has taken the routes of an Exposure.
 */
import { keyText, objectText, type KubeObject } from '../kube/object.ts';
import { groupOf } from '../kube/resource.ts';
import type { EdgeCode, EdgeFinding } from './codes.ts';

/**
 * - `Admitted`: it says so
 * - `Refused`: it says no, or nothing could take them
 * - `Pending`: it has not looked yet
 * - `Unknown`: it never says; only a handshake through the edge can tell
 */
export type AdmissionState = 'Admitted' | 'Refused' | 'Pending' | 'Unknown';

/** The answer, for a person too. */
export interface Admission {
  readonly state: AdmissionState;
  readonly code: EdgeCode;
  /** What is the case. No full stop. */
  readonly message: string;
  /** The way out, where one is needed. No full stop. */
  readonly action?: string;
}

/** How long a controller may take before it counts as silent. The real ones were seen to take 0.3 to 2 s. */
const SILENT_AFTER_MS = 60_000;

/** The worst comes first. */
const GRAVITY: readonly AdmissionState[] = ['Refused', 'Pending', 'Unknown', 'Admitted'];

/** The answer for all objects: the worst of theirs, and of those that are not there. */
export function admissionOf(
  wanted: readonly KubeObject[],
  live: readonly KubeObject[],
  judge: (object: KubeObject) => Admission,
): Admission {
  const each = wanted.map((object) => {
    const found = live.find((candidate) => isSameObject(candidate, object));
    return found === undefined ? absent(object) : judge(found);
  });
  const worst = GRAVITY.map((state) => each.find((admission) => admission.state === state));
  return (
    worst.find((admission) => admission !== undefined) ?? admitted('there is no route to take')
  );
}

/** Nothing is in the way. */
export function admitted(message: string): Admission {
  return { state: 'Admitted', code: 'Admitted', message };
}

/** The controller says no. */
export function refused(code: EdgeCode, message: string, action: string): Admission {
  return { state: 'Refused', code, message, action };
}

/** The controller of this object never says anything about it. */
export function untold(object: KubeObject, action: string): Admission {
  const message = `the controller says nothing about ${objectText(object)}`;
  return { state: 'Unknown', code: 'NoStatus', message, action };
}

/** The controller of this object will say something about it, and has not yet. */
export function unanswered(object: KubeObject, nowMs: number, action: string): Admission {
  const sinceMs = nowMs - Date.parse(object.metadata.creationTimestamp ?? '');
  const text = objectText(object);
  if (sinceMs > SILENT_AFTER_MS) {
    const message = `no controller has looked at ${text}`;
    return { state: 'Pending', code: 'ControllerSilent', message, action };
  }
  const message = `the controller has not looked at ${text} yet`;
  return { state: 'Pending', code: 'AwaitingController', message };
}

/** What the controller says of this object is about an older version of it. */
export function outdated(object: KubeObject): Admission {
  const message = `the controller has not looked at the latest change of ${objectText(object)} yet`;
  return { state: 'Pending', code: 'AwaitingController', message };
}

/** The first finding that keeps the routes from being served, as an answer. */
export function refusedBy(findings: readonly EdgeFinding[]): Admission | undefined {
  const found = findings.find(({ severity }) => severity === 'error');
  return found && refused(found.code, found.message, found.action);
}

function absent(object: KubeObject): Admission {
  const message = `${objectText(object)} is not there`;
  return { state: 'Pending', code: 'RouteAbsent', message, action: 'see why it was not written' };
}

function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return (
    a.kind === b.kind &&
    groupOf(a.apiVersion) === groupOf(b.apiVersion) &&
    keyText(a.metadata) === keyText(b.metadata)
  );
}
