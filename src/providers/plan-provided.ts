/**
 * What has to be written into the objects of a control plane, whichever provider it is of. Pure: `render` and `diff` show
 * it, the operator writes it.
 */
import type { KubeObject } from '../kube/object.ts';
import type { ProvidedFacts } from './reading/control-plane-reading.ts';
import {
  planPreparations,
  type PreparationOwner,
  type PreparationPlan,
} from './preparation/plan-preparation.ts';
import type { PreparationWish } from './preparation/preparation.ts';
import { PROVIDERS } from './provider-for.ts';

/** The plans, one for each object. `now`: as they are now. Default: as they were read. */
export function planProvided(
  { provider, objects }: Pick<ProvidedFacts, 'provider' | 'objects'>,
  wish: PreparationWish,
  owner: PreparationOwner,
  now: readonly KubeObject[] = objects,
): readonly PreparationPlan[] {
  return planPreparations(now, (bases) => PROVIDERS[provider].prepare(bases, wish), owner);
}
