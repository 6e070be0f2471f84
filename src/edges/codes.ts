/**
 * The codes that have to do with edges.
 */
import { EDGE_FINDINGS } from '../api/finding-codes/edge.ts';
import type { Finding } from '../api/finding.ts';

/** One of them. */
export type EdgeCode = keyof typeof EDGE_FINDINGS;

/** A finding of this part. */
export interface EdgeFinding extends Finding {
  readonly code: EdgeCode;
}

/** What keeps tenants from being reached. */
export function error(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'error', message, action };
}

/** What a person should know, though it may work. */
export function warning(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'warning', message, action };
}
