/**
 * What an Exposure requires of the objects of its control plane.
 */
import type { Edge } from '../../api/edge.ts';
import type { Exposure } from '../../api/exposure.ts';
import type { Hosts } from '../../api/hosts.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { PreparationOwner } from '../../providers/preparation/plan-preparation.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { ExposureIndex } from '../../management/exposure-index.ts';
import { handledClasses, type IngressClassView } from '../../management/ingress-classes.ts';
import type { PreparationInput } from './next-step.ts';

/** The part of a management cluster that a preparation depends on. */
export interface PreparationCluster extends IngressClassView {
  readonly exposureIndex: Pick<ExposureIndex, 'preparedBy'>;
}

/** The input besides the Exposure and its control plane. */
export interface PreparationView {
  readonly management: PreparationCluster;
  /** Hosts of TenantRoutes that are not among the hosts of the plan. */
  readonly previousHosts: readonly string[];
}

/** As {@link PreparationInput.owner}. */
export function ownerOf(
  exposure: KubeObject,
  exposureIndex: Pick<ExposureIndex, 'preparedBy'>,
): PreparationOwner {
  const key = keyText(exposure.metadata);
  return { exposure, otherOwner: (uid) => exposureIndex.preparedBy(uid, key) };
}

/** The preparation for an Exposure behind its Edge. `object` is the Exposure with its record. */
export function preparationFor(
  object: KubeObject,
  { exposure, edge }: { readonly exposure: Exposure; readonly edge: Pick<Edge, 'spec'> },
  hosts: Hosts,
  provided: ProvidedFacts,
  { management, previousHosts }: PreparationView,
): PreparationInput {
  const { prepare } = exposure.spec;
  return {
    policy: prepare,
    provided,
    spec: {
      hosts,
      port: edge.spec.port,
      // A user who writes the fields does not need previous hosts.
      ...(previousHosts.length > 0 && prepare !== 'Report' && { previousHosts }),
      handledClasses: handledClasses(edge, management),
    },
    owner: ownerOf(object, management.exposureIndex),
  };
}
