/**
 * The ServiceAccount, the ConfigMap and the Secret of the proxy. The proxy watches its files, so a new certificate
 * needs no new pod.
 */
import type { KubeObject } from '../kube/object.ts';
import { textAt } from '../kube/unstructured.ts';
import {
  edgeFile,
  edgeFileAddresses,
  parseEdgeFileAddresses,
  type EdgeFileInput,
} from './edge-file.ts';
import type { ProxyCredentials } from './tenant-facts.ts';
import {
  PROXY,
  PROXY_CONFIG,
  PROXY_FILES,
  PROXY_LABELS,
  REPORTED_ADDRESSES_ANNOTATION,
} from './proxy-names.ts';

/** Returns the ServiceAccount, without permissions and without a token: the proxy uses no Kubernetes API. */
export function proxyAccount(): KubeObject {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...PROXY, labels: PROXY_LABELS },
    automountServiceAccountToken: false,
  };
  return account;
}

/** The input of {@link proxyConfig}. */
export interface ProxyConfigInput extends EdgeFileInput {
  /** The CA that the edge's certificate must chain to, as PEM. */
  readonly authority: string;
  /** The name and the driver of the Edge. */
  readonly edge: string;
  /** The ingress class or the Gateways of the Edge, whose addresses are reported. Default: the Edge names none. */
  readonly addressSource?: string | undefined;
  /** Whether the controller of the Edge reports the addresses. Default: the spec of the Edge has them. */
  readonly areAddressesReported?: boolean | undefined;
  /** The current ConfigMap. */
  readonly currentConfig?: KubeObject | undefined;
}

/**
 * Returns the ConfigMap with the CA, and the addresses of the edge. The proxy reloads both, so no pod restarts.
 *
 * While the controller of the Edge reports no addresses, those stay that it reported last: the status of a load balancer
 * may be empty for a moment, and after a restore of the management cluster it is empty until its controller has run.
 */
export function proxyConfig(input: ProxyConfigInput): KubeObject {
  const { authority, host, port, edge, areAddressesReported = false, currentConfig } = input;
  const { addressSource } = input;
  const source = addressSource === undefined ? edge : `${edge} ${addressSource}`;
  const reportedOf = areAddressesReported ? `${source} ${host}:${port}` : undefined;
  const isUnknown = input.edgeAddresses.length === 0 && reportedOf !== undefined;
  const edgeAddresses = isUnknown
    ? currentAddresses(currentConfig, reportedOf, port)
    : input.edgeAddresses;
  const file = { ...input, edgeAddresses };
  const isReported = reportedOf !== undefined && edgeFileAddresses(file).length > 0;
  const annotations = isReported ? { [REPORTED_ADDRESSES_ANNOTATION]: reportedOf } : undefined;
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...PROXY_CONFIG, labels: PROXY_LABELS, ...(annotations && { annotations }) },
    data: { [PROXY_FILES.authorities]: authority, [PROXY_FILES.edge]: edgeFile(file) },
  };
  return configMap;
}

function currentAddresses(
  config: KubeObject | undefined,
  reportedOf: string,
  port: number,
): readonly string[] {
  const isSame = config?.metadata.annotations?.[REPORTED_ADDRESSES_ANNOTATION] === reportedOf;
  return isSame ? parseEdgeFileAddresses(textAt(config, 'data', PROXY_FILES.edge) ?? '', port) : [];
}

/** Returns the Secret with a certificate and its key, or with the tenant key. */
export function proxySecret(credentials: ProxyCredentials): KubeObject {
  const files =
    'tenantKey' in credentials
      ? { [PROXY_FILES.tenantKey]: credentials.tenantKey }
      : {
          [PROXY_FILES.certificate]: credentials.certificate,
          [PROXY_FILES.key]: credentials.key,
        };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...PROXY, labels: PROXY_LABELS },
    // The type of a Secret is immutable, so both modes use the same type.
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    ),
  };
  return secret;
}
