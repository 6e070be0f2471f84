/**
 * Whether the controller of an edge has admitted the routes of an Exposure.
 */
import type { Finding } from '../api/finding.ts';
import { keyText, objectText, type KubeObject } from '../kube/object.ts';
import { groupOf } from '../kube/resource.ts';
import type { FindingCode } from '../api/finding-codes/catalog.ts';

/**
 * - `Admitted`: the controller reports it
 * - `Refused`: the controller rejects a route, or cannot serve any
 * - `Pending`: the controller has not observed a route yet
 * - `Unknown`: the controller never reports it; only a handshake through the edge shows it
 */
type AdmissionState = 'Admitted' | 'Refused' | 'Pending' | 'Unknown';

/** An admission state with its reason and message. */
export interface Admission {
  readonly state: AdmissionState;
  readonly code: FindingCode;
  /** What the controller reports, without a full stop. */
  readonly message: string;
  /** What to do, if anything, without a full stop. */
  readonly action?: string;
}

/**
 * A controller that reports nothing within this time counts as silent. Real controllers took 0.3 to 2
 * s.
 */
const SILENT_AFTER_MS = 60_000;

/** The states, the worst first. */
const WORST_FIRST: readonly AdmissionState[] = ['Refused', 'Pending', 'Unknown', 'Admitted'];

/** Returns the worst admission among all desired objects, including those that do not exist. */
export function admissionOf(
  wanted: readonly KubeObject[],
  live: readonly KubeObject[],
  admissionFrom: (object: KubeObject) => Admission,
): Admission {
  const each = wanted.map((object) => {
    const found = live.find((candidate) => isSameObject(candidate, object));
    return found === undefined ? absent(object) : admissionFrom(found);
  });
  const worst = WORST_FIRST.map((state) => each.find((admission) => admission.state === state));
  return worst.find((admission) => admission !== undefined) ?? admitted('The plan has no routes.');
}

/** Returns the admission of an object that the controller serves. */
export function admitted(message: string): Admission {
  return { state: 'Admitted', code: 'Admitted', message };
}

/** Returns the admission of an object that the controller rejects. */
export function rejected(code: FindingCode, message: string, action: string): Admission {
  return { state: 'Refused', code, message, action };
}

/** Returns the admission of an object whose controller never reports a status. */
export function statusUnsupported(object: KubeObject, action: string): Admission {
  const message = `The controller does not report a status for ${objectText(object)}.`;
  return { state: 'Unknown', code: 'NoStatus', message, action };
}

/** Returns the admission of an object whose controller has not reported a status yet. */
export function statusPending(object: KubeObject, nowMs: number, action: string): Admission {
  const sinceMs = nowMs - Date.parse(object.metadata.creationTimestamp ?? '');
  const text = objectText(object);
  if (sinceMs > SILENT_AFTER_MS) {
    const message = `No controller has processed ${text}.`;
    return { state: 'Pending', code: 'ControllerUnresponsive', message, action };
  }
  const message = `The controller has not processed ${text} yet.`;
  return { state: 'Pending', code: 'AwaitingController', message };
}

/** Returns the admission of an object whose status belongs to an older generation. */
export function statusOutdated(object: KubeObject): Admission {
  const message = `The controller has not processed the latest change of ${objectText(object)} yet.`;
  return { state: 'Pending', code: 'AwaitingController', message };
}

/** Returns the first error among the findings, as an admission; undefined if there is none. */
export function rejectedBy(findings: readonly Finding[]): Admission | undefined {
  const found = findings.find(({ severity }) => severity === 'error');
  return found && rejected(found.code, found.message, found.action);
}

function absent(object: KubeObject): Admission {
  const message = `${objectText(object)} does not exist.`;
  return {
    state: 'Pending',
    code: 'NotReconciled',
    message,
    action: 'Check why it was not written.',
  };
}

function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return (
    a.kind === b.kind &&
    groupOf(a.apiVersion) === groupOf(b.apiVersion) &&
    keyText(a.metadata) === keyText(b.metadata)
  );
}
