/**
 * A finding for the user: a stable code, a sentence with the offending value, and what to do.
 */
import type { FindingCode } from './finding-codes/catalog.ts';

/** The text of a finding. */
export interface FindingMessage {
  /** What is wrong, as full sentences with the value: `Host a.example.com is already used by Exposure tenants/b.` */
  readonly message: string;
  /** What to do, as full sentences: `Choose another host or delete that Exposure.` Absent if nothing is to be done. */
  readonly action?: string;
}

/** A finding. The same code is a condition's reason, a log field and a metric's label. */
export interface Finding extends FindingMessage {
  /** In CamelCase, as for the reason of a condition. */
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning';
  readonly action: string;
}

/** Returns message and action as one text, for conditions and logs. */
export function findingText({ message, action }: FindingMessage): string {
  return action === undefined ? message : `${message} ${action}`;
}
