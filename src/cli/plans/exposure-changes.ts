/**
 * What the operator would change for one Exposure.
 */
import { CLUSTERS, type Cluster } from '../../plan/render.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';
import type { ClusterChange, ExposureChanges } from '../output/diff-text.ts';

/** Returns the changes in both clusters, or in one. */
export function exposureChanges(
  { object, changes, findings }: Pick<DryRun, 'object' | 'changes' | 'findings'>,
  only?: Cluster,
): ExposureChanges {
  const clusters = only === undefined ? CLUSTERS : [only];
  const all = clusters.flatMap((cluster) =>
    changes[cluster].map((change): ClusterChange => ({ ...change, cluster })),
  );
  return { exposure: object, changes: all, findings };
}
