import type { Cluster } from '../cluster/cluster.ts';
import { providerParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import { waitFor } from '../wait.ts';
import { servingPatch, type Definition } from './definitions.ts';
import type { ProviderKind } from './provider.ts';

/** Steward, a fork of a later Kamaji. */
export const steward: ProviderKind = {
  name: 'steward',
  part: providerParts.steward,
  group: 'steward.butlerlabs.dev',
  versions: { kubernetes: 'v1.35.0', konnectivity: 'v0.35.0' },
  flags: [],
  definitionsFolder: () => filesFolder(providerParts.steward, 'crds'),
  prepare: serveTlsRoutes,
};

const GATEWAY_API = '/apis/gateway.networking.k8s.io';
const TLS_ROUTES = 'tlsroutes.gateway.networking.k8s.io';
const VERSION = 'v1alpha2';

/**
 * Makes the API server serve TLSRoute v1alpha2, if the Gateway API is installed. Steward looks for the Gateway API
 * once, at its start. If it finds any of it, it watches TLSRoute v1alpha2 and does nothing until that version is
 * served. From v1.6 on, the standard Gateway API has that version but does not serve it. Without a Gateway API, Steward
 * does not watch TLSRoutes, even if one is installed later.
 */
async function serveTlsRoutes(management: Cluster): Promise<void> {
  const { controlPlane } = management;
  const answers = async (path: string) => (await controlPlane.request('GET', path)).ok;
  if (!(await answers(GATEWAY_API))) return;
  const routes = await management.get<Definition>('customresourcedefinition', TLS_ROUTES);
  const patch = routes && servingPatch(routes, VERSION);
  if (!patch)
    throw new Error(
      `Steward needs ${TLS_ROUTES} in version ${VERSION}, which the Gateway API in the management cluster does ` +
        'not have; start Steward first, or install another Gateway API',
    );
  await management.kubectl(
    'patch',
    'customresourcedefinition',
    TLS_ROUTES,
    '--type=json',
    `--patch=${JSON.stringify(patch)}`,
  );
  await waitFor(`${TLS_ROUTES} ${VERSION} is served`, () => answers(`${GATEWAY_API}/${VERSION}`));
}
