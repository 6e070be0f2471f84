/**
 * Finding codes about edges.
 */
import { EDGE_FINDINGS } from '../api/finding-codes/edge.ts';
import type { Finding } from '../api/finding.ts';

/** A finding code about edges. */
export type EdgeCode = keyof typeof EDGE_FINDINGS | 'FieldInvalid' | 'NotReconciled';

/** A finding about an edge. */
export interface EdgeFinding extends Finding {
  readonly code: EdgeCode;
}

/** Returns a finding that makes tenants unreachable. */
export function error(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'error', message, action };
}

/** Returns a warning. The edge may work nevertheless. */
export function warning(code: EdgeCode, message: string, action: string): EdgeFinding {
  return { code, severity: 'warning', message, action };
}
