/**
 * The reasons for which an informer lists again instead of resuming its watch, and counters of
 * these lists.
 */
import type { KubeErrorReason } from '../kube-error.ts';

/**
 * Why an informer lists again instead of resuming its watch:
 * - `Expired`: the API server no longer has the events after the last resourceVersion (410)
 * - `Regressed`: the resourceVersion of the API server is lower than the last one seen, as after a restore of etcd
 * - `NotFound`: the kind is no longer served (404)
 * - `Invalid`: the API server rejects the resourceVersion (400, 422)
 * - `Malformed`: the same event failed twice
 */
export const RELIST_REASONS = [
  'Expired',
  'Regressed',
  'NotFound',
  'Invalid',
  'Malformed',
] as const satisfies readonly (KubeErrorReason | 'Regressed')[];
/** One of {@link RELIST_REASONS}. */
export type RelistReason = (typeof RELIST_REASONS)[number];

/** Totals of one or more informers. */
export class InformerCounters {
  /** Lists that completed. */
  lists = 0;
  /** Watches that the API server accepted. */
  watches = 0;
  readonly relists: Record<RelistReason, number> = {
    Expired: 0,
    Regressed: 0,
    NotFound: 0,
    Invalid: 0,
    Malformed: 0,
  };
}

/** Returns why a watch that failed for this reason cannot be resumed, or undefined if it can. */
export function relistReason(reason: KubeErrorReason): RelistReason | undefined {
  const isLost = reason === 'Expired' || reason === 'NotFound' || reason === 'Invalid';
  return isLost ? reason : undefined;
}
