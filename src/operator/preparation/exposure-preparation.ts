/**
 * What an Exposure wants of the objects of its control plane.
 */
import type { Edge } from '../../api/edge.ts';
import type { Exposure } from '../../api/exposure.ts';
import type { Hosts } from '../../api/hosts.ts';
import { keyText } from '../../kube/object.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { Holder } from '../../providers/preparation/plan-preparation.ts';
import type { PreparationInput } from './preparer.ts';

/** As {@link PreparationInput.holder}: this Exposure, among those that there are. */
export function holderOf(
  { metadata }: Pick<Exposure, 'metadata'>,
  exposures: { has(key: string): boolean },
): Holder {
  return { exposure: keyText(metadata), isThere: (key) => exposures.has(key) };
}

/** What is known of other Exposures, and of the hosts that this one had before. */
export interface KnownExposures {
  has(key: string): boolean;
  /** Hosts of TenantRoutes that are not among the hosts of the plan. */
  readonly previousHosts: readonly string[];
}

/** What is to be prepared for an Exposure behind its Edge. */
export function preparationFor(
  { exposure, edge }: { readonly exposure: Exposure; readonly edge: Pick<Edge, 'spec'> },
  hosts: Hosts,
  provided: ProvidedFacts,
  exposures: KnownExposures,
): PreparationInput {
  const { prepare } = exposure.spec;
  const { previousHosts } = exposures;
  return {
    policy: prepare,
    provided,
    wish: {
      ...{ hosts, port: edge.spec.port },
      // Whoever writes the fields himself need not know of hosts that he has just given up.
      ...(previousHosts.length > 0 && prepare !== 'Report' && { formerHosts: previousHosts }),
    },
    holder: holderOf(exposure, exposures),
  };
}
