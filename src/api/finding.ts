/**
 * Something to tell a person: a stable code, a sentence with the offending value, and what to do.
 */
import type { FindingCode } from './finding-codes/catalogue.ts';

/** A finding. The same code is a condition's reason, a log field and a metric's label. */
export interface Finding {
  /** In CamelCase, as Kubernetes writes reasons. */
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning';
  /** What is the case, with the value: `blue.k8s.example.com is held by Exposure tenants/b`. No full stop. */
  readonly message: string;
  /** The way out: `choose another host or delete that one`. No full stop. */
  readonly action: string;
}

/** Message and action as one text, as conditions and logs have it. */
export function findingText({ message, action }: Finding): string {
  return `${message}; ${action}`;
}
