/**
 * Detects an operator that has not reconciled the current spec, and reports that one cause instead of its consequences.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ResultCode } from '../../probe/codes.ts';
import { skippedForSameCause } from '../../probe/hop.ts';
import type { ProbeResults } from './dedupe.ts';

/**
 * Codes of hops that fail while routes, endpoints and proxies do not exist yet. Some edges answer TLS themselves for a
 * host without a route.
 */
const CONSEQUENCES: ReadonlySet<string> = new Set<ResultCode>([
  ...(['NoRoute', 'EdgeTerminates', 'NotTls', 'NotReconciled', 'ProxiesNotReady'] as const),
]);

/** Returns a finding if the status is about another generation of the Exposure, or if there is no status. */
export function outdatedOperator(object: KubeObject, namespace: string): Finding | undefined {
  const { generation, deletionTimestamp } = object.metadata;
  const { status } = object as Partial<Exposure>;
  const seen = status?.observedGeneration;
  if (deletionTimestamp !== undefined || generation === undefined || seen === generation) {
    return undefined;
  }
  return {
    code: 'NotReconciled',
    severity: 'error',
    message:
      seen === undefined
        ? 'The operator has not reconciled this Exposure yet.'
        : `The operator has not reconciled the latest change of this Exposure: its generation is ${generation}, but the status is for generation ${seen}.`,
    action: `Wait a moment. If this persists, check that the operator runs: kubectl -n ${namespace} get deployment snicket-operator`,
  };
}

/**
 * Returns the result with this finding, and with its consequences skipped. Unchanged if the spec has errors, because
 * the operator does nothing before they are fixed.
 */
export function withOutdatedOperator<T extends ProbeResults>(
  found: T,
  behind: Finding | undefined,
): T {
  const isRefused = found.findings.some(({ severity }) => severity === 'error');
  if (behind === undefined || isRefused) return found;
  return {
    ...found,
    findings: [behind, ...found.findings],
    hops: found.hops.map((hop) =>
      CONSEQUENCES.has(hop.code) ? skippedForSameCause(hop, behind.code) : hop,
    ),
  };
}
