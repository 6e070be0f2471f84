/**
 * Reports on an Exposure what the management cluster prevents. The previous status would be wrong, and an empty one says
 * nothing.
 */
import { findingText } from '../../api/finding.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import { fails, type PartialCondition } from '../../reconcile/conditions/condition-state.ts';
import { faultStates } from '../../reconcile/conditions/management-conditions.ts';
import { shouldReport, managementFault, StepFailed } from '../../reconcile/management-fault.ts';
import type { ExposureReports } from './exposure-reports.ts';
import type { ExposureState } from './exposure-state.ts';

/** Runs a reconcile, and reports what prevents it. @throws what it throws, the cause of a StepFailed */
export async function withErrorReporting<T>(
  object: KubeObject,
  state: ExposureState,
  reports: ExposureReports,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    const result = await work();
    state.failures = 0;
    return result;
  } catch (error) {
    const cause: unknown = error instanceof StepFailed ? error.cause : error;
    // Not a fault: the next reconcile decides from the current version.
    if (cause instanceof OutdatedError) throw cause;
    if (!signal.aborted && isKubeError(cause) && shouldReport(cause, ++state.failures)) {
      const condition = error instanceof StepFailed ? (error.step as PartialCondition) : undefined;
      await report(object, state, reports, cause, condition, signal).catch((failure: unknown) => {
        // The cause matters more, and is reported the next time.
        if (!isKubeError(failure)) throw failure;
      });
    }
    throw cause;
  }
}

async function report(
  object: KubeObject,
  state: ExposureState,
  reports: ExposureReports,
  cause: KubeError,
  condition: PartialCondition | undefined,
  signal: AbortSignal,
): Promise<void> {
  const finding = managementFault(cause);
  const { generation = 0, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) {
    await reports.reportCleanup(object, state, findingText(finding), signal);
  } else if (condition !== undefined) {
    const before = reports.statusOf(object);
    const conditions = faultStates(before, generation, condition, fails(finding));
    await reports.report(object, state, { isRouted: false, conditions }, signal);
  }
}
