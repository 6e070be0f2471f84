/**
 * node-proxy: the proxy of this node is ready and performs TLS handshakes as pods expect. node-service: so does the
 * address of the kubernetes Service.
 */
import type { X509Certificate } from 'node:crypto';
import { addressText } from '../dial.ts';
import { hopResult, type HopResult } from '../hop.ts';
import type { Handshake } from '../tls/handshake.ts';
import { answerText, ownerOf } from '../tls/owner.ts';
import { validityOf, validityText } from '../tls/validity.ts';
import { sentence } from '../../text/sentence.ts';

/** The server name that pods use for the API. */
export const POD_NAME = 'kubernetes.default.svc';

/** The health of a proxy from its `/readyz`. */
export interface ProxyHealth {
  /** The address of the health endpoint. */
  readonly at: string;
  readonly isReady: boolean;
  /** The proxy's message, which says why it is not ready. */
  readonly message: string;
}

/**
 * Returns a failure if no proxy of this node is ready, otherwise undefined. Two proxies run while one replaces the
 * other.
 */
export function judgeHealth(
  proxies: readonly ProxyHealth[],
  healthPort: number,
): HopResult | undefined {
  const [first] = proxies;
  if (first === undefined) {
    const message = `No proxy listens on port ${healthPort} of this machine's loopback addresses.`;
    return hopResult('node-proxy', 'NodeProxyAbsent', `127.0.0.0/8 port ${healthPort}`, message);
  }
  if (proxies.some(({ isReady }) => isReady)) return undefined;
  const message = sentence(`The proxy is not ready: ${first.message}`);
  return hopResult('node-proxy', 'NodeProxyNotReady', `http://${first.at}/readyz`, message);
}

/** A handshake with an address, as from a pod. */
export interface PodHandshake {
  readonly address: string;
  readonly port: number;
  readonly handshake: Handshake;
  readonly timeoutMs: number;
}

/** Returns the result for the proxy. */
export function judgeNodeProxy(
  { address, port, handshake, timeoutMs }: PodHandshake,
  tenantCas: readonly X509Certificate[],
  { file, now }: { readonly file: string; readonly now: Date },
): HopResult {
  const at = addressText(address, port);
  const owner = ownerOf(handshake, { authorities: tenantCas });
  const text = answerText({ host: POD_NAME, port, at, owner, timeoutMs });
  if (owner.kind === 'tenant') {
    const validity = validityOf(owner.path, POD_NAME, now);
    const message = validityText(validity, POD_NAME);
    const isAccepted = validity.kind === 'valid' || validity.kind === 'expiresSoon';
    return hopResult(
      'node-proxy',
      isAccepted ? 'Passed' : 'NodeProxyCertificateInvalid',
      at,
      message,
    );
  }
  return 'leaf' in owner
    ? hopResult('node-proxy', 'NodeProxyUntrusted', at, text, { address: at, file })
    : hopResult('node-proxy', 'NodeProxyRefuses', at, text, { address: at });
}

/** Returns the result for the Service, if the proxy responds. */
export function judgeNodeService(
  { address, port, handshake, timeoutMs }: PodHandshake,
  tenantCas: readonly X509Certificate[],
): HopResult {
  const at = addressText(address, port);
  const owner = ownerOf(handshake, { authorities: tenantCas });
  const text = answerText({ host: POD_NAME, port, at, owner, timeoutMs });
  return owner.kind === 'tenant'
    ? hopResult('node-service', 'Passed', at, text)
    : hopResult('node-service', 'NodeServiceUnreachable', at, text, { address: at });
}
