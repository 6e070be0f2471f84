/**
 * Patches that disable the proxy that k0smotron deploys in a tenant with `spec.ingress`: a HAProxy on every worker,
 * with a key on the disk of the node, and Service default/kubernetes pointing to it.
 */
import { parse } from 'yaml';
import { textAt, valueAt } from '../../kube/unstructured.ts';

/** An entry of `spec.patches`. */
export interface K0smotronPatch {
  readonly target: { readonly kind: string; readonly component: string };
  readonly patch: { readonly type: string; readonly content: string };
}

/**
 * The initial Endpoints. k0s gives workers no configuration before Endpoints default/kubernetes has an address, so
 * there must be one before the first worker joins, even while Snicket does not run. 192.0.2.1 is not routable. The
 * label keeps it out of EndpointSlices, so that no pod connects to it. The text must never change: k0s would overwrite
 * the endpoints of Snicket with it.
 */
const SEED = `apiVersion: v1
kind: Endpoints
metadata:
  name: kubernetes
  namespace: default
  labels:
    endpointslice.kubernetes.io/skip-mirror: "true"
subsets:
- addresses:
  - ip: 192.0.2.1
  ports:
  - name: https
    port: 443
    protocol: TCP
`;

/** The manifests of k0smotron's proxy. */
const OWN_FILES = ['1_haproxy-configmap.yaml', '2_haproxy-ds.yaml', '3_kube-service.yaml'] as const;

/**
 * A merge patch for all ConfigMaps of the component. null removes a file, and has no effect if the file does not exist.
 */
export const NO_OWN_PROXY: K0smotronPatch = patchOf('ingress', {
  '0_temp-kubernetes-ep.yaml': SEED,
  ...Object.fromEntries(OWN_FILES.map((file) => [file, null])),
});

/**
 * Returns the patch with the public endpoint. With an external address, k0smotron gives the tenant's CNI that address
 * with the port of the Service, which is wrong behind an edge.
 */
export function publicEndpoint(host: string, port: number): K0smotronPatch {
  return patchOf('control-plane', {
    'endpoint.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: control-plane-endpoint
  namespace: kube-system
data:
  apiServerHost: ${host}
  apiServerPort: "${port}"
`,
  });
}

/** Matches the JSON in the content of the patch. */
const ENDPOINT = /apiServerHost: (?<host>[^\\\s]+)\\n {2}apiServerPort: \\"(?<port>\d{1,5})\\"/;

/** Reports whether an entry is a patch of {@link publicEndpoint}, for any host. */
export function isPublicEndpoint(entry: unknown): boolean {
  const { host, port } = ENDPOINT.exec(textAt(entry, 'patch', 'content') ?? '')?.groups ?? {};
  if (host === undefined || port === undefined) return false;
  return Bun.deepEquals(entry, publicEndpoint(host, Number(port)));
}

/** Reports whether a patch disables k0smotron's proxy, in any notation. */
export function disablesOwnProxy(entry: unknown): boolean {
  const data = mergedInto('ingress', entry);
  const seed = data['0_temp-kubernetes-ep.yaml'];
  return (
    OWN_FILES.every((file) => data[file] === null) &&
    typeof seed === 'string' &&
    seed.includes('endpointslice.kubernetes.io/skip-mirror')
  );
}

/** Reports whether a patch gives the tenant's CNI this endpoint, in any notation. */
export function setsEndpoint(entry: unknown, host: string, port: number): boolean {
  const text = mergedInto('control-plane', entry)['endpoint.yaml'];
  const data = valueAt(typeof text === 'string' ? parsed(text) : undefined, 'data');
  return textAt(data, 'apiServerHost') === host && textAt(data, 'apiServerPort') === String(port);
}

/** No such patch is longer. */
const MAX_CONTENT = 16 * 1024;

/** Returns what a merge patch for the ConfigMaps of a component puts into `data`. */
function mergedInto(component: string, entry: unknown): Readonly<Record<string, unknown>> {
  const isOfComponent =
    textAt(entry, 'target', 'kind') === 'ConfigMap' &&
    textAt(entry, 'target', 'component') === component &&
    textAt(entry, 'patch', 'type') === 'merge';
  const data = isOfComponent
    ? valueAt(parsed(textAt(entry, 'patch', 'content') ?? ''), 'data')
    : undefined;
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}

/** Parses YAML or JSON; undefined if it is neither. */
function parsed(content: string): unknown {
  if (content.length > MAX_CONTENT) return undefined;
  try {
    return parse(content, { maxAliasCount: 0, logLevel: 'silent' });
  } catch {
    return undefined; // k0smotron reports it, and the patch has no effect
  }
}

/** JSON is also YAML. */
function patchOf(component: string, data: Readonly<Record<string, string | null>>): K0smotronPatch {
  const content = `${JSON.stringify({ data }, undefined, 2)}\n`;
  return { target: { kind: 'ConfigMap', component }, patch: { type: 'merge', content } };
}
