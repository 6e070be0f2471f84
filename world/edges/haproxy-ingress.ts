import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partFolder } from '../parts/cache.ts';
import { edgeParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import { EDGE_NAMESPACE, type EdgeRecipe } from './recipe.ts';

const CLASS = 'haproxy-ingress';

/**
 * Replaces the JSON module that haproxy-lua-http.lua loads, and that Debian has in another package. Only Ingresses with
 * external authentication call it.
 */
const JSON_STUB = `local function absent() error("this world's haproxy-ingress has no JSON") end
return { encode = absent, decode = absent }
`;

/** haproxy-ingress by jcmoraisjr, with Debian's HAProxy. Its route kind is Ingress, with its own annotation. */
export const haproxyIngress: EdgeRecipe = {
  parts: [edgeParts.haproxyIngress, edgeParts.haproxy],
  tools: edgeParts.haproxy,
  objects: [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: CLASS },
      spec: { controller: 'haproxy-ingress.github.io/controller' },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: CLASS, namespace: EDGE_NAMESPACE },
      data: {},
    },
  ],

  async start({ host, kubeconfig, folder }) {
    const support = filesFolder(edgeParts.haproxyIngress, 'haproxy-ingress');
    const prefix = join(folder, 'root');
    const lua = join(prefix, 'etc/haproxy/lua');
    mkdirSync(lua, { recursive: true });
    cpSync(join(support, 'rootfs/etc/lua'), lua, { recursive: true });
    writeFileSync(join(lua, 'json.lua'), JSON_STUB);
    const environment = { POD_NAME: host.name, POD_NAMESPACE: EDGE_NAMESPACE };
    await host.start(
      'haproxy-ingress',
      [
        // haproxy-ingress reads its templates and scripts from ./rootfs.
        'env',
        `--chdir=${support}`,
        join(partFolder(edgeParts.haproxyIngress), 'haproxy-ingress'),
        `--kubeconfig=${kubeconfig}`,
        `--local-filesystem-prefix=${prefix}`,
        `--configmap=${EDGE_NAMESPACE}/${CLASS}`,
        `--ingress-class=${CLASS}`,
        '--update-status=false',
        '--watch-gateway=false',
        '--enable-endpointslices-api',
      ],
      {
        env: {
          ...environment,
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        },
      },
    );
  },

  route({ host, namespace, service, port }) {
    return {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: {
        name: host,
        namespace,
        annotations: { 'haproxy-ingress.github.io/ssl-passthrough': 'true' },
      },
      spec: {
        ingressClassName: CLASS,
        rules: [
          {
            host,
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  // A port name may have at most 15 characters here, and konnectivity-server is longer.
                  backend: { service: { name: service, port: { number: port } } },
                },
              ],
            },
          },
        ],
      },
    };
  },
};
