/**
 * How an Exposure stands in the middle of a run.
 */
import type { ExposureStatus } from '../api/exposure.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Observation } from './observe.ts';
import type { ResolvedExposure } from '../management/exposure-book.ts';
import type { ExposurePreparation } from './preparation/exposure-preparations.ts';
import type { Routed } from './routes/routing.ts';
import type { ConditionState } from './conditions/condition-state.ts';

/** What a run is for. */
export interface ExposureTask {
  readonly key: string;
  readonly object: KubeObject;
  readonly wish: ResolvedExposure;
}

/** What a run has found and done before it comes to the tenant. */
export interface Standing extends ExposureTask {
  readonly look: Observation;
  readonly accepted: ConditionState;
  readonly routed: Routed;
  /** The status as it was. */
  readonly before: ExposureStatus | undefined;
  /** Routed by another Edge than the one that is wished for, which takes no routes yet. */
  readonly isMoving: boolean;
  readonly isInUse: boolean;
  readonly preparation: ExposurePreparation;
}
