/**
 * The summary of an Edge or an Exposure: its condition Ready, if that is about the current object. Pure.
 */
import { findCondition } from '../../kube/conditions.ts';
import type { Condition, KubeObject } from '../../kube/object.ts';

/** The summary of an object. */
export interface Summary {
  readonly ready: Condition['status'];
  /** A stable code. */
  readonly reason: string;
  readonly message: string;
}

/** The parts of a status that the summary uses. */
interface Report {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** Returns the summary of an Exposure from the operator's report. */
export function summaryOf(object: KubeObject, report: Report | undefined): Summary {
  if (object.metadata.deletionTimestamp !== undefined) {
    const ready = findCondition(report?.conditions, 'Ready');
    // During cleanup, the operator reports what it waits for, and how long.
    if (ready?.reason === 'CleaningUp') return summaryFrom(ready);
    // Any other report is from before the deletion.
    return { ready: 'False', reason: 'CleaningUp', message: 'it is being deleted' };
  }
  return reportedSummary(object, report);
}

/** Returns the summary of an Edge from the operator's report: it serves its Exposures also while it is being deleted. */
export function reportedSummary({ metadata }: KubeObject, report: Report | undefined): Summary {
  const ready = findCondition(report?.conditions, 'Ready');
  if (ready === undefined) {
    return notReconciled('not reconciled yet; check that the operator is running');
  }
  const seen = ready.observedGeneration ?? report?.observedGeneration;
  if (seen !== undefined && metadata.generation !== undefined && seen < metadata.generation) {
    return notReconciled('changed, and not reconciled yet');
  }
  return summaryFrom(ready);
}

function summaryFrom({ status, reason, message }: Condition): Summary {
  return { ready: status, reason, message };
}

function notReconciled(message: string): Summary {
  return { ready: 'Unknown', reason: 'NotObserved', message };
}
