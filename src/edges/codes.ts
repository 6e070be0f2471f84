/**
 * Findings about edges.
 */
import type { FindingCode } from '../api/finding-codes/catalog.ts';
import type { Finding } from '../api/finding.ts';

/** Returns a finding that makes tenants unreachable. */
export function error(code: FindingCode, message: string, action: string): Finding {
  return { code, severity: 'error', message, action };
}

/** Returns a warning. The edge may work nevertheless. */
export function warning(code: FindingCode, message: string, action: string): Finding {
  return { code, severity: 'warning', message, action };
}
