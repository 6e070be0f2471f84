/**
 * What k0smotron puts into a tenant together with `spec.ingress`, and the patches that keep it out: a HAProxy on every
 * worker, with a key on the node's disk, and a Service default/kubernetes that leads there.
 */
import { textAt } from '../../kube/unstructured.ts';

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

/** Merged into every ConfigMap of the component; null takes a file away, and is no fault where there is none. */
export const NO_OWN_PROXY: K0smotronPatch = patchOf('ingress', {
  '0_temp-kubernetes-ep.yaml': SEED,
  '1_haproxy-configmap.yaml': null,
  '2_haproxy-ds.yaml': null,
  '3_kube-service.yaml': null,
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

/** JSON, which is YAML too. */
function patchOf(component: string, data: Readonly<Record<string, string | null>>): K0smotronPatch {
  const content = `${JSON.stringify({ data }, undefined, 2)}\n`;
  return { target: { kind: 'ConfigMap', component }, patch: { type: 'merge', content } };
}
