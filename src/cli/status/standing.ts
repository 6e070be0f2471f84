/**
 * How an Edge or an Exposure stands: its condition Ready, as far as that is about the object as it is now. Pure.
 */
import { findCondition } from '../../kube/conditions.ts';
import type { Condition, KubeObject } from '../../kube/object.ts';

/** How it stands. */
export interface Standing {
  readonly ready: Condition['status'];
  /** A stable code. */
  readonly reason: string;
  readonly message: string;
}

/** What the status is judged by. */
export interface Report {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** How an object stands, by what the operator reported of it. */
export function standingOf({ metadata }: KubeObject, report: Report | undefined): Standing {
  const ready = findCondition(report?.conditions, 'Ready');
  if (metadata.deletionTimestamp !== undefined) {
    // While it waits for something, the operator says for what, and how long.
    if (ready?.reason === 'Leaving') return standing(ready);
    // Whatever else it said is of before.
    return { ready: 'False', reason: 'Leaving', message: 'it is being deleted' };
  }
  if (ready === undefined) {
    return notLookedAt('the operator has not looked at it yet; see that it runs');
  }
  const seen = ready.observedGeneration ?? report?.observedGeneration;
  if (seen !== undefined && metadata.generation !== undefined && seen < metadata.generation) {
    return notLookedAt('it was changed, and the operator has not looked at that yet');
  }
  return standing(ready);
}

function standing({ status, reason, message }: Condition): Standing {
  return { ready: status, reason, message };
}

function notLookedAt(message: string): Standing {
  return { ready: 'Unknown', reason: 'NotLookedAt', message };
}
