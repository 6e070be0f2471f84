import { join } from 'node:path';
import { partFolder } from '../parts/cache.ts';
import { edgeParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import { EDGE_PORT, type EdgeRecipe, type Route } from './recipe.ts';
import { gateway, tlsRoute } from './gateway-api.ts';

/** Name of Traefik's entry point. A Gateway's listener matches it by its port number. */
const ENTRY_POINT = 'tenants';

/** Traefik. Its route kind is IngressRouteTCP; {@link traefikTlsRoute} returns a TLSRoute instead. */
export const traefik: EdgeRecipe = {
  parts: [edgeParts.traefik],
  definitions: () => [
    filesFolder(edgeParts.traefik, 'traefik'),
    filesFolder(edgeParts.traefik, 'gateway-api'),
  ],
  objects: gateway('traefik', 'traefik.io/gateway-controller'),

  async start({ host, kubeconfig }) {
    await host.start(
      'traefik',
      [
        join(partFolder(edgeParts.traefik), 'traefik'),
        `--entrypoints.${ENTRY_POINT}.address=:${EDGE_PORT}`,
        '--providers.kubernetescrd',
        '--providers.kubernetesgateway',
        '--global.checknewversion=false',
        '--global.sendanonymoususage=false',
      ],
      { env: { KUBECONFIG: kubeconfig } },
    );
  },

  route({ host, namespace, service, port }) {
    return {
      apiVersion: 'traefik.io/v1alpha1',
      kind: 'IngressRouteTCP',
      metadata: { name: host, namespace },
      spec: {
        entryPoints: [ENTRY_POINT],
        tls: { passthrough: true },
        routes: [{ match: `HostSNI(\`${host}\`)`, services: [{ name: service, port }] }],
      },
    };
  },
};

/** Returns the same route as a TLSRoute that attaches to Traefik's Gateway. */
export function traefikTlsRoute(route: Route): object {
  return tlsRoute('traefik', route);
}
