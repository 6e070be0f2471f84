/**
 * k0smotron, standalone: a Cluster.
 */
import { valueAt } from '../kube/unstructured.ts';
import { factsOf, namesOf } from './k0s/control-plane.ts';
import { k0sFields, k0sFindings } from './k0s/preparation.ts';
import { readProvided } from './reading/provided-reading.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, PROVIDER_RESOURCES } from './provider-resources.ts';

/** The provider k0smotron. */
export const k0smotron: Provider = {
  name: 'k0smotron',
  resource: PROVIDER_RESOURCES.k0smotron,
  read: async (object, objects) => {
    const facts = factsOf(object, 'k0smotron', { status: valueAt(object, 'status') });
    return readProvided(object, namesOf(object, object.metadata.name), facts, objects);
  },
  prepare: (objects, spec) =>
    objects.map((object) => ({
      object,
      resource: inVersionOf(PROVIDER_RESOURCES.k0smotron, object),
      fields: k0sFields(object, spec),
      findings: k0sFindings(object, spec),
    })),
  clearedBeforeRemoval: [],
  pendingRollout: async () => undefined,
};
