import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partFolder } from '../parts/cache.ts';
import { edgeParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import { EDGE_NAMESPACE, type EdgeRecipe } from './recipe.ts';
import { gateway, tlsRoute } from './gateway-api.ts';

const NAME = 'envoy-gateway';

/**
 * Builds a root folder for Envoy Gateway, with the host's folders and /certs. Envoy Gateway reads its certificates from
 * /certs, which must not be created on the machine. The root folder also has its own /dev/shm, where Envoy would leave
 * a file.
 */
const MAKE_ROOT = `
root=$1 certificates=$2
mkdir -p "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"
for entry in /*; do
  if [ -L "$entry" ]; then cp -a "$entry" "$root$entry"
  elif [ -d "$entry" ]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"
  fi
done
mount -t tmpfs tmpfs "$root/dev/shm"
mkdir -p "$root/certs"
mount --bind "$certificates" "$root/certs"
`;

/** Envoy Gateway with the Envoy that it starts. Its route kind is TLSRoute, of the Gateway API. */
export const envoyGateway: EdgeRecipe = {
  parts: [edgeParts.envoyGateway, edgeParts.envoy],
  definitions: () => [
    filesFolder(edgeParts.envoyGateway, 'envoy-gateway'),
    filesFolder(edgeParts.envoyGateway, 'gateway-api'),
  ],
  objects: [
    {
      apiVersion: 'gateway.envoyproxy.io/v1alpha1',
      kind: 'EnvoyProxy',
      metadata: { name: NAME, namespace: EDGE_NAMESPACE },
      // Without a version, Envoy Gateway looks for one on the Internet.
      spec: { provider: { type: 'Host', host: { envoyVersion: edgeParts.envoy.version } } },
    },
    ...gateway(NAME, 'gateway.envoyproxy.io/gatewayclass-controller', {
      group: 'gateway.envoyproxy.io',
      kind: 'EnvoyProxy',
      name: NAME,
      namespace: EDGE_NAMESPACE,
    }),
  ],

  async start({ host, kubeconfig, folder }) {
    const program = join(partFolder(edgeParts.envoyGateway), 'envoy-gateway');
    const homes = {
      configHome: join(folder, 'config'),
      dataHome: join(folder, 'data'),
      stateHome: join(folder, 'state'),
      runtimeDir: join(folder, 'run'),
    };
    for (const home of Object.values(homes)) mkdirSync(home, { recursive: true });
    await host.exec([program, 'certgen', '--local', '--config-home', homes.configHome]);
    const binaries = join(homes.dataHome, 'envoy-versions', edgeParts.envoy.version, 'bin');
    mkdirSync(binaries, { recursive: true });
    symlinkSync(join(partFolder(edgeParts.envoy), 'envoy'), join(binaries, 'envoy'));
    const config = join(folder, 'envoy-gateway.json');
    writeFileSync(config, JSON.stringify(configuration(homes)));
    const root = join(folder, 'root');
    const certificates = join(homes.configHome, 'certs', 'envoy-gateway');
    await host.exec(['sh', '-euc', MAKE_ROOT, 'sh', root, certificates]);
    await host.start(NAME, ['chroot', root, program, 'server', '--config-path', config], {
      env: { KUBECONFIG: kubeconfig, HOME: folder, ENVOY_GATEWAY_NAMESPACE: EDGE_NAMESPACE },
    });
  },

  route: (route) => tlsRoute(NAME, route),
};

function configuration(homes: Readonly<Record<string, string>>): object {
  return {
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'EnvoyGateway',
    gateway: { controllerName: 'gateway.envoyproxy.io/gatewayclass-controller' },
    provider: {
      type: 'Custom',
      custom: {
        resource: { type: 'Kubernetes' },
        infrastructure: { type: 'Host', host: homes },
      },
    },
  };
}
