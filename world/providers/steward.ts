import type { Cluster } from '../cluster/cluster.ts';
import { providerParts } from '../parts/catalogue.ts';
import { filesFolder } from '../parts/module-files.ts';
import { installDefinitions, readDefinitions, serves, type Definition } from './definitions.ts';
import type { ProviderKind } from './provider.ts';

/** Steward, a fork of a later Kamaji. */
export const steward: ProviderKind = {
  name: 'steward',
  part: providerParts.steward,
  group: 'steward.butlerlabs.dev',
  versions: { kubernetes: 'v1.35.0', konnectivity: 'v0.35.0' },
  flags: [],
  definitionsFolder: () => filesFolder(providerParts.steward, 'crds'),
  prepare: installGatewayApi,
};

const TLS_ROUTES = 'tlsroutes.gateway.networking.k8s.io';

/**
 * Steward looks for the Gateway API when it starts, and again for each tenant; once it has found any of it, it
 * watches TLSRoute v1alpha2, and waits for that for ever. So it gets what it was built with. A Gateway API that
 * is there already, an edge's, stays as it is, if only it serves that version too.
 */
async function installGatewayApi(management: Cluster): Promise<void> {
  const present = await management.get<Definition>('customresourcedefinition', TLS_ROUTES);
  if (!present)
    return installDefinitions(
      management,
      readDefinitions(filesFolder(providerParts.steward, 'gateway-api')),
    );
  if (!serves(present, 'v1alpha2'))
    throw new Error(
      `Steward needs TLSRoute v1alpha2, and the ${TLS_ROUTES} in the management cluster serves ` +
        `${present.spec.versions.flatMap(({ name, served }) => (served ? [name] : [])).join(', ')}; ` +
        'install the experimental Gateway API there, or start Steward first',
    );
}
