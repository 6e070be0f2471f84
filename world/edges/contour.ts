import { join } from 'node:path';
import { partFolder } from '../parts/cache.ts';
import { edgeParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import { EDGE_PORT, type EdgeRecipe } from './recipe.ts';

/** Address of Contour's xDS server, which configures Envoy. Only this host can reach it. */
const XDS = ['--xds-address=127.0.0.1', '--xds-port=8001'];

/** Contour with its Envoy. Its route kind is HTTPProxy. */
export const contour: EdgeRecipe = {
  parts: [edgeParts.contour, edgeParts.envoy],
  definitions: () => [filesFolder(edgeParts.contour, 'contour')],
  objects: [],

  async start({ host, kubeconfig, folder }) {
    const program = join(partFolder(edgeParts.contour), 'contour');
    const bootstrap = join(folder, 'envoy.json');
    await host.exec([
      program,
      'bootstrap',
      bootstrap,
      ...XDS,
      `--admin-address=${join(folder, 'envoy-admin.sock')}`,
    ]);
    await host.start('contour', [
      program,
      'serve',
      ...XDS,
      `--kubeconfig=${kubeconfig}`,
      '--insecure', // between Contour and Envoy, on the host's loopback
      `--envoy-service-https-port=${EDGE_PORT}`,
      '--disable-leader-election',
    ]);
    await host.start('envoy', [
      join(partFolder(edgeParts.envoy), 'envoy'),
      '--config-path',
      bootstrap,
      '--service-cluster',
      'contour',
      '--service-node',
      host.name,
      // Envoy would otherwise leave shared memory in the machine's /dev/shm.
      '--disable-hot-restart',
    ]);
  },

  route({ host, namespace, service, port }) {
    return {
      apiVersion: 'projectcontour.io/v1',
      kind: 'HTTPProxy',
      metadata: { name: host, namespace },
      spec: {
        virtualhost: { fqdn: host, tls: { passthrough: true } },
        tcpproxy: { services: [{ name: service, port }] },
      },
    };
  },
};
