/**
 * What the operator would change for one Exposure.
 */
import type { Outlook } from '../../reconcile/outlook.ts';
import { changesIn } from '../../plan/changes.ts';
import { CLUSTERS, type Cluster } from '../../plan/render.ts';
import type { ClusterChange, ExposureChanges } from '../output/diff-text.ts';
import { formerRoutesIn } from './outlooks.ts';

/** In both clusters, or in one. */
export function exposureChanges(outlook: Outlook, only?: Cluster): ExposureChanges {
  const clusters = only === undefined ? CLUSTERS : [only];
  return {
    exposure: outlook.object,
    changes: clusters.flatMap((cluster): readonly ClusterChange[] => {
      const side = outlook[cluster] ?? { wanted: [], superfluous: [] };
      const kept = cluster === 'management' ? formerRoutesIn(outlook) : [];
      const changes = changesIn({ ...side, kept }).map((change) => ({ ...change, cluster }));
      if (cluster === 'tenant') return changes;
      return [...preparationChanges(outlook), ...changes];
    }),
    findings: outlook.findings,
  };
}

/** Fields of objects that are the provider's, or a user's. */
function preparationChanges({ preparation }: Outlook): readonly ClusterChange[] {
  return (preparation?.changes ?? []).map(({ object, fields }) => ({
    ...{ action: 'change', cluster: 'management', object, fields, waits: false },
  }));
}
