/**
 * How an Exposure stands in the middle of a run.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Look } from '../look.ts';
import type { KnownWish } from '../../management/exposure-book.ts';
import type { ExposurePreparation } from './exposure-preparations.ts';
import type { Routed } from './routing.ts';
import type { Verdict } from './verdicts/verdicts.ts';

/** What a run is for. */
export interface ExposureTask {
  readonly key: string;
  readonly object: KubeObject;
  readonly wish: KnownWish;
}

/** What a run has found and done before it comes to the tenant. */
export interface Standing extends ExposureTask {
  readonly look: Look;
  readonly accepted: Verdict;
  readonly routed: Routed;
  /** The status as it was. */
  readonly before: ExposureStatus | undefined;
  /** Routed by another Edge than the one that is wished for, which takes no routes yet. */
  readonly isMoving: boolean;
  readonly isInUse: boolean;
  readonly preparation: ExposurePreparation;
}
