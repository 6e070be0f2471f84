/**
 * What k0smotron puts into a tenant together with `spec.ingress`, and the patches that keep it out: a HAProxy on every
 * worker, with a key on the node's disk, and a Service default/kubernetes that leads there.
 */
import { parse } from 'yaml';
import { textAt, valueAt } from '../../kube/unstructured.ts';

/** As `spec.patches` has it. */
export interface K0smotronPatch {
  readonly target: { readonly kind: string; readonly component: string };
  readonly patch: { readonly type: string; readonly content: string };
}

/**
 * k0s hands out no configuration to workers before Endpoints default/kubernetes has an address, so one has to be there
 * before the first worker, even if Snicket is down: 192.0.2.1, which leads nowhere. By the label it stays out of
 * EndpointSlices, so that no pod is sent there. The text must never change: k0s would write it over the endpoints that
 * Snicket has put in its place.
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

/** The files of k0smotron's proxy. */
const OWN_FILES = ['1_haproxy-configmap.yaml', '2_haproxy-ds.yaml', '3_kube-service.yaml'] as const;

/** Merged into every ConfigMap of the component; null takes a file away, and is no fault where there is none. */
export const NO_OWN_PROXY: K0smotronPatch = patchOf('ingress', {
  '0_temp-kubernetes-ep.yaml': SEED,
  ...Object.fromEntries(OWN_FILES.map((file) => [file, null])),
});

/** With an external address k0smotron tells the tenant's CNI where the API is, with the port of the Service: a wrong one. */
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

/** As the content of the patch has it, which is JSON. */
const ENDPOINT = /apiServerHost: (?<host>[^\\\s]+)\\n {2}apiServerPort: \\"(?<port>\d{1,5})\\"/;

/** Whether it is one that {@link publicEndpoint} makes, for whichever host. */
export function isPublicEndpoint(entry: unknown): boolean {
  const { host, port } = ENDPOINT.exec(textAt(entry, 'patch', 'content') ?? '')?.groups ?? {};
  if (host === undefined || port === undefined) return false;
  return Bun.deepEquals(entry, publicEndpoint(host, Number(port)));
}

/** Whether a patch keeps k0smotron's proxy out of the tenant, however it is written. */
export function keepsOutOwnProxy(entry: unknown): boolean {
  const data = mergedInto('ingress', entry);
  const seed = data['0_temp-kubernetes-ep.yaml'];
  return (
    OWN_FILES.every((file) => data[file] === null) &&
    typeof seed === 'string' &&
    seed.includes('endpointslice.kubernetes.io/skip-mirror')
  );
}

/** Whether a patch gives the tenant's CNI this endpoint, however it is written. */
export function givesEndpoint(entry: unknown, host: string, port: number): boolean {
  const text = mergedInto('control-plane', entry)['endpoint.yaml'];
  const data = valueAt(typeof text === 'string' ? parsed(text) : undefined, 'data');
  return textAt(data, 'apiServerHost') === host && textAt(data, 'apiServerPort') === String(port);
}

/** More than any such patch has. */
const MAX_CONTENT = 16 * 1024;

/** What a merge patch of the ConfigMaps of a component puts into `data`. */
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

/** Content of YAML or JSON; undefined if it is neither. */
function parsed(content: string): unknown {
  if (content.length > MAX_CONTENT) return undefined;
  try {
    return parse(content, { maxAliasCount: 0, logLevel: 'silent' });
  } catch {
    return undefined; // k0smotron reports it; such a patch does no job
  }
}

/** JSON, which is YAML too. */
function patchOf(component: string, data: Readonly<Record<string, string | null>>): K0smotronPatch {
  const content = `${JSON.stringify({ data }, undefined, 2)}\n`;
  return { target: { kind: 'ConfigMap', component }, patch: { type: 'merge', content } };
}
