/**
 * The changes that a provider's objects need. Pure: `render` and `diff` show them, and the operator applies them.
 */
import type { KubeObject } from '../kube/object.ts';
import type { ProvidedFacts } from './reading/control-plane-reading.ts';
import {
  planPreparations,
  type PreparationOwner,
  type PreparationPlan,
} from './preparation/plan-preparation.ts';
import type { PreparationSpec } from './preparation/preparation.ts';
import { PROVIDERS } from './provider-for.ts';

/** Returns one plan per object. `now` are the current objects. Default: the objects as they were read. */
export function planProvided(
  { provider, objects }: Pick<ProvidedFacts, 'provider' | 'objects'>,
  spec: PreparationSpec,
  owner: PreparationOwner,
  current: readonly KubeObject[] = objects,
): readonly PreparationPlan[] {
  return planPreparations(current, (bases) => PROVIDERS[provider].prepare(bases, spec), owner);
}
