/** For tests only: the files that the commands of the documentation read, taken from the examples on the pages. */
import { readPages, type Page } from '../pages.ts';

const pages: ReadonlyMap<string, Page> = new Map(readPages().map((page) => [page.path, page]));

/** Returns the first example of a page that has an object of this kind. */
export function yamlOf(path: string, kind: string): string {
  const header = new RegExp(`^kind: ${kind}$`, 'm');
  return blockOf(path, (text, language) => language === 'yaml' && header.test(text));
}

/** Returns the files of a page, by name. */
export function documentedFiles(path: string): Readonly<Record<string, string>> {
  return FILES[path]?.(path) ?? {};
}

const FILES: Readonly<Record<string, (path: string) => Readonly<Record<string, string>>>> = {
  'docs/tasks/by-hand.md': (path) => ({
    'routes.yaml': hereDocumentIn(blockOf(path, (text) => text.includes("<<'END'"))),
  }),
  // Has the faults that the output on the page reports.
  'docs/reference/gateway.md': () => ({
    'routes.yaml': `routes:
  - tenant: a
    host: a.k8s.example.com
    kind: apis
    endpoints: ["10.0.0.5:6443"]
  - tenant: b
    host: b.k8s.example.com
    kind: api
    endpoints: ["10.0.0.6"]
`,
  }),
  'docs/tasks/providers/README.md': (path) => ({
    'edge.yaml': yamlOf(path, 'Edge'),
    'blue.yaml': yamlOf('docs/tasks/providers/kamaji.md', 'TenantControlPlane'),
  }),
  'docs/tasks/render.md': () => ({
    'blue.yaml': yamlOf('docs/tasks/expose.md', 'Exposure'),
  }),
  // From the documentation of k0smotron and Kamaji.
  'docs/tasks/migrate/k0smotron-haproxy.md': () => ({
    'my-cluster.yaml': `apiVersion: k0smotron.io/v1beta2
kind: Cluster
metadata: {name: my-cluster, namespace: default, annotations: {snicket.dev/edge: shared}}
spec:
  version: v1.34.1-k0s.0
  ingress:
    className: haproxy
    apiHost: kube-api.example.com
    konnectivityHost: konnectivity.example.com
    port: 443
`,
  }),
  'docs/tasks/migrate/kamaji-ingress-addon.md': (path) => ({
    'edge.yaml': yamlOf(path, 'Edge'),
    'tenant-00.yaml': `apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata:
  name: tenant-00
  namespace: apezzuto
  annotations: {kamaji.clastix.io/ingress.domain: clastix.cloud, snicket.dev/edge: shared}
spec:
  controlPlane: {service: {serviceType: ClusterIP}}
  kubernetes: {version: v1.33.4}
  networkProfile: {port: 6443}
  addons: {konnectivity: {}}
`,
  }),
};

function hereDocumentIn(script: string): string {
  const [, text = ''] = /<<'END'\n([^]*?)END/.exec(script) ?? [];
  return text;
}

function blockOf(path: string, matches: (text: string, language: string) => boolean): string {
  const blocks = pages.get(path)?.blocks ?? [];
  const found = blocks.find(({ text, language }) => matches(text, language));
  if (found === undefined) throw new Error(`${path} lacks an example`);
  return found.text;
}
