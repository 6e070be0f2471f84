/**
 * Converts the flags and environment of steward-tcp-proxy to settings, with a notice for each flag that Snicket
 * ignores.
 */
import {
  formatListenAddress,
  parseListenAddress,
  type ListenAddress,
} from '../net/listen-address.ts';
import type { Environment } from '../kube/access/in-cluster.ts';
import { parseEdgeAddress, type EdgeAddress } from '../net/edge-address.ts';
import { canonicalAddress, endpointAddressFault } from '../kube/endpoints/endpoint-address.ts';
import { ipVersion } from '../wire/ip-address.ts';
import { serverNameFault } from '../wire/hello/server-name.ts';

/** The flags as given. Empty means absent, as with Go's flag package. */
export interface TcpProxyFlags {
  readonly listenAddr: string;
  readonly upstreamAddr?: string | undefined;
  readonly serviceName: string;
  readonly servicePort?: number | undefined;
  readonly reconcileIntervalMs: number;
  readonly tlsCertFile?: string | undefined;
  readonly tlsKeyFile?: string | undefined;
  readonly upstreamSni?: string | undefined;
  readonly upstreamInsecure: boolean;
  readonly http: readonly ListenAddress[];
}

/** The validated settings of the TCP proxy. */
export interface TcpProxySettings {
  readonly listen: readonly ListenAddress[];
  readonly upstream: EdgeAddress;
  /** The name that the upstream's certificate must have. If the proxy terminates TLS, it is also the SNI. */
  readonly serverName: string;
  /** Certificate and key that the proxy serves pods with. If undefined, TLS passes through. */
  readonly serving: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The address of this node, if POD_IP is set. */
  readonly nodeAddress: string | undefined;
  /** The Service in kube-system that gives the Leases their names and owns them. */
  readonly serviceName: string;
  /** Interval between two reconciles of the slice. */
  readonly intervalMs: number;
  readonly http: readonly ListenAddress[];
  /** Sentences for the user about flags that are ignored or limited. */
  readonly notices: readonly string[];
}

/** Maximum interval. Other proxies rely on regular renewals of the Lease. */
export const MAX_INTERVAL_MS = 5_000;
const MIN_INTERVAL_MS = 1_000;

/** The server name if the upstream has no DNS name. Every API server certificate has it. */
const API_SERVER_NAME = 'kubernetes.default.svc';

/** Returns the settings. @throws TypeError with a message for the user. */
export function settingsOf(flags: TcpProxyFlags, env: Environment): TcpProxySettings {
  const upstreamText = nonEmpty(flags.upstreamAddr) ?? nonEmpty(env['UPSTREAM_ADDR']);
  if (upstreamText === undefined) {
    throw new TypeError('--upstream-addr or UPSTREAM_ADDR is required; write api.example.com:443');
  }
  const upstream = upstreamOf(upstreamText);
  const serving = servingOf(flags, env);
  const listen = listenOf(flags.listenAddr);
  const nodeAddress = nodeAddressOf(env);
  const intervalMs = intervalMsOf(flags.reconcileIntervalMs);
  return {
    listen,
    upstream,
    serving,
    nodeAddress,
    intervalMs,
    http: flags.http,
    serviceName: serviceNameOf(flags.serviceName),
    serverName: serverNameOf(flags, upstream, serving !== undefined),
    notices: [
      ...insecureNotice(flags, serving !== undefined),
      ...portNotice(flags, listen),
      ...addressNotice(listen, nodeAddress),
    ],
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function upstreamOf(text: string): EdgeAddress {
  try {
    return parseEdgeAddress(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isDoubled = /:\d+:\d+$/.test(text) && !text.includes('[');
    const advice = isDoubled ? '; Steward adds the port, so omit it from the hostname' : '';
    throw new TypeError(`--upstream-addr: ${reason}${advice}`, { cause: error });
  }
}

function servingOf(flags: TcpProxyFlags, env: Environment): TcpProxySettings['serving'] {
  const certFile = nonEmpty(flags.tlsCertFile) ?? nonEmpty(env['TLS_CERT_FILE']);
  const keyFile = nonEmpty(flags.tlsKeyFile) ?? nonEmpty(env['TLS_KEY_FILE']);
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  const [has, lacks] =
    certFile === undefined
      ? ['--tls-key-file', '--tls-cert-file']
      : ['--tls-cert-file', '--tls-key-file'];
  throw new TypeError(`${has} '${certFile ?? keyFile}' requires ${lacks}; set both or neither`);
}

function listenOf(text: string): readonly ListenAddress[] {
  try {
    return parseListenAddress(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`--listen-addr: ${reason}`, { cause: error });
  }
}

function serverNameOf(flags: TcpProxyFlags, { host }: EdgeAddress, terminates: boolean): string {
  const requested = nonEmpty(flags.upstreamSni);
  const name = requested ?? (ipVersion(host) === 0 ? host.replace(/\.$/, '') : undefined);
  if (name === undefined) {
    if (!terminates) return API_SERVER_NAME;
    throw new TypeError(
      `--upstream-addr '${host}' is an IP address, but the edge routes by server name; set one with --upstream-sni`,
    );
  }
  const bytes = Buffer.from(name);
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault === undefined) return name.toLowerCase();
  throw new TypeError(
    `${requested === undefined ? '--upstream-addr' : '--upstream-sni'} '${name}' is not a DNS name (${fault})`,
  );
}

function nodeAddressOf(env: Environment): string | undefined {
  const address = nonEmpty(env['POD_IP']);
  if (address === undefined) return undefined;
  const fault = endpointAddressFault(address);
  if (fault === undefined) return canonicalAddress(address);
  throw new TypeError(
    `POD_IP '${address}' is ${fault}, which EndpointSlices do not allow; set it from status.podIP, with hostNetwork`,
  );
}

const SERVICE_NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

function serviceNameOf(name: string): string {
  if (SERVICE_NAME.test(name)) return name;
  throw new TypeError(
    `--service-name '${name}' is not a valid Service name; write steward-tcp-proxy`,
  );
}

function intervalMsOf(intervalMs: number): number {
  if (intervalMs <= 0) {
    throw new TypeError('--reconcile-interval must be positive; write 30s');
  }
  return Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, intervalMs));
}

function insecureNotice(flags: TcpProxyFlags, terminates: boolean): readonly string[] {
  if (!flags.upstreamInsecure || !terminates) return [];
  return [
    '--upstream-insecure is ignored: the certificate of the upstream is always verified against the CA of the service account and the host name',
  ];
}

function portNotice(
  { servicePort }: TcpProxyFlags,
  listen: readonly ListenAddress[],
): readonly string[] {
  const port = listen[0]?.port;
  if (servicePort === undefined || servicePort === port) return [];
  return [
    `--service-port ${servicePort} is ignored: the EndpointSlice points to this proxy and not to a Service, so its port is ${port}, from --listen-addr`,
  ];
}

function addressNotice(
  listen: readonly ListenAddress[],
  nodeAddress: string | undefined,
): readonly string[] {
  const isWildcard = listen.some(({ address }) => address === '0.0.0.0' || address === '::');
  const isNodeAddress = listen.some(({ address }) => canonicalAddress(address) === nodeAddress);
  const [first] = listen;
  if (isWildcard || isNodeAddress || nodeAddress === undefined || first === undefined) return [];
  return [
    `--listen-addr is ${formatListenAddress(first)} only, but pods are sent to ${nodeAddress}: they cannot connect unless something forwards from there`,
  ];
}
