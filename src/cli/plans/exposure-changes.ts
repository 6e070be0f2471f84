/**
 * What the operator would change for one Exposure.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { comparisons } from '../../kube/apply/differences.ts';
import { routeOf } from '../../operator/exposure/exposure-status.ts';
import type { Outlook } from '../../operator/outlook.ts';
import { changesIn, type FieldChange } from '../../plan/changes.ts';
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
      return [...preparationChanges(outlook), ...routeInStatus(outlook), ...changes];
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

/** Snicket's own gateway has its routes from the status of the Exposure: no object says them. */
function routeInStatus({ object, wish, plan, isRouted }: Outlook): readonly ClusterChange[] {
  if (wish?.edge.spec.driver !== 'snicket' || plan === undefined || !isRouted) return [];
  const { status } = object as typeof object & { readonly status?: ExposureStatus };
  const fields = routeFields(status?.route, routeOf(plan));
  if (fields.length === 0) return [];
  return [{ action: 'change', cluster: 'management', object, fields, waits: false }];
}

function routeFields(
  from: ExposureStatus['route'],
  to: ExposureStatus['route'],
): readonly FieldChange[] {
  if (to === undefined) return from === undefined ? [] : [{ path: 'status.route', from }];
  const gone =
    from?.konnectivity !== undefined && to.konnectivity === undefined
      ? [{ path: 'status.route.konnectivity', from: from.konnectivity }]
      : [];
  const others = comparisons({ status: { route: to } }, { status: { route: from } });
  return [
    ...others.map(({ path, found, wanted }) => ({
      path: path.slice(1),
      ...(found !== undefined && { from: found }),
      to: wanted,
    })),
    ...gone,
  ];
}
