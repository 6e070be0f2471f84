import type { Cluster } from '../cluster/cluster.ts';
import { providerParts } from '../parts/catalogue.ts';
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
 * Steward looks for the Gateway API once, when it starts. If any of it is there, it watches TLSRoute v1alpha2,
 * and does nothing at all until it can. The standard Gateway API still has that version from v1.6 on, but no
 * longer serves it, so it is made to. Where there is no Gateway API, Steward does without, also if one comes later.
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
