/**
 * Errors of the management cluster during a reconcile, and the findings that report them.
 */
import type { Finding } from '../api/finding.ts';
import { isKubeError, type KubeError } from '../kube/kube-error.ts';
import type { PartialCondition } from './conditions/condition-state.ts';
import { sentence } from '../text/sentence.ts';

/** A call to the management cluster failed in the middle of a step, named by the condition that reports it. */
export class StepFailed extends Error {
  readonly step: PartialCondition;
  override readonly cause: KubeError;

  constructor(step: PartialCondition, cause: KubeError) {
    super(`the management cluster failed in step ${step}`, { cause });
    this.step = step;
    this.cause = cause;
  }
}

/** Runs a step. @throws StepFailed for a KubeError */
export async function step<T>(name: PartialCondition, take: () => Promise<T>): Promise<T> {
  try {
    return await take();
  } catch (error) {
    throw isKubeError(error) ? new StepFailed(name, error) : error;
  }
}

/** Most errors are transient, and each report is a write. */
const REPORT_AFTER = 3;

/** Whether to report an error after this many consecutive failures. A missing permission is reported at once. */
export function shouldReport({ reason }: KubeError, times: number): boolean {
  return reason === 'Forbidden' || times >= REPORT_AFTER;
}

/** The finding for an error of the management cluster. */
export function managementFault({ reason, message }: KubeError): Finding {
  if (reason === 'Forbidden') {
    return {
      code: 'PermissionMissing',
      severity: 'error',
      message: sentence(
        `Snicket's operator lacks a permission in the management cluster: ${message}`,
      ),
      action: "Add it to the operator's ClusterRole (kubectl apply -k deploy). Snicket retries.",
    };
  }
  return {
    code: 'ManagementUnavailable',
    severity: 'error',
    message: sentence(`The management cluster's API server keeps failing: ${message}`),
    action: 'Check the API server. Snicket retries.',
  };
}
