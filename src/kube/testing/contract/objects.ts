/**
 * For tests only: objects that any API server accepts.
 */
import type { ObjectMeta } from '../../object.ts';
import type { ApiObject } from '../../store/object-store.ts';

/** The namespace of all objects of the contract tests. */
export const NAMESPACE = 'contract';

type Meta = Omit<ObjectMeta, 'name' | 'namespace'>;

/** A ConfigMap: a plain map, without status or generation. */
export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: Meta = {},
): ApiObject {
  // A real server drops an empty map, and then reports each entry that is applied as a change.
  return of('v1', 'ConfigMap', name, Object.keys(data).length === 0 ? {} : { data }, metadata);
}

/** A Service without selector: its ports are a list with keys. */
export function service(name: string, spec: object, metadata: Meta = {}): ApiObject {
  return of('v1', 'Service', name, { spec }, metadata);
}

/** An EndpointSlice: its endpoints are one field. */
export function slice(name: string, ...addresses: readonly string[]): ApiObject {
  return of('discovery.k8s.io/v1', 'EndpointSlice', name, {
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
  });
}

/** An Ingress: it has a status and a generation. */
export function ingress(name: string, host: string): ApiObject {
  const service = { name: 'any', port: { number: 443 } };
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service } }];
  return of('networking.k8s.io/v1', 'Ingress', name, {
    spec: { rules: [{ host, http: { paths } }] },
  });
}

/** A DaemonSet that matches no node. */
export function daemonSet(name: string, env: readonly object[]): ApiObject {
  const labels = { app: name };
  const container = {
    name: 'main',
    image: 'example.invalid/none:1',
    env,
    ports: [{ name: 'health', containerPort: 9440, hostPort: 9440, protocol: 'TCP' }],
    resources: { requests: { cpu: '10m', memory: '32Mi' } },
    securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'keys', mountPath: '/keys', readOnly: true }],
  };
  const spec = {
    nodeSelector: { 'example.invalid/nowhere': 'true' },
    hostNetwork: true,
    tolerations: [{ operator: 'Exists' }],
    containers: [container],
    volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
  };
  return of('apps/v1', 'DaemonSet', name, {
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

function of(
  apiVersion: string,
  kind: string,
  name: string,
  content: object,
  metadata: Meta = {},
): ApiObject {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE, ...metadata }, ...content };
}

/** Returns the key of an object of the contract tests. */
export function keyOf(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: NAMESPACE };
}

/** Returns the error of a call. Fails the test if the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await call;
  } catch (error) {
    return error;
  }
  throw new Error(`did not fail, but returned ${JSON.stringify(result)}`);
}

/** Returns the value. Fails the test if it is undefined. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is nothing');
  return value;
}
