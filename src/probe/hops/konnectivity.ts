/**
 * konnectivity: TLS for the konnectivity host is terminated by this tenant's konnectivity-server, as agents require.
 */
import { hopResult, type HopResult } from '../hop.ts';
import { API_PROTOCOL } from './api.ts';
import { answerText, type PeerAnswer, type Owner } from '../tls/owner.ts';
import { judgeCertificate } from './certificate.ts';
import { misrouted } from './sni.ts';

/** The ALPN protocol that agents offer and require, since they use gRPC. */
export const AGENT_PROTOCOL = 'h2';

/**
 * Returns the result for two handshakes with the konnectivity host: one offers what agents offer, `asApi` only {@link
 * API_PROTOCOL}. An API server accepts that. konnectivity-server, which may have the same certificate, does not: gRPC
 * in Go supports only HTTP/2, selects no protocol, and closes the connection after the handshake.
 */
export function judgeKonnectivity(answer: PeerAnswer, asApi: Owner, now: Date): HopResult {
  const { host, port, owner } = answer;
  if (owner.kind !== 'tenant') {
    return misrouted('konnectivity', answer, owner.kind, 'konnectivity-server');
  }
  const target = `${host}:${port}`;
  if (owner.protocol !== AGENT_PROTOCOL) {
    const message = `Host ${host} at ${answer.at} does not negotiate HTTP/2.`;
    return hopResult('konnectivity', 'NotKonnectivity', target, message, { host });
  }
  if (asApi.kind === 'tenant' && asApi.protocol === API_PROTOCOL) {
    const message = `Host ${host} at ${answer.at} reaches an HTTP/1.1 server, such as the API server.`;
    return hopResult('konnectivity', 'NotKonnectivity', target, message, { host });
  }
  const result = judgeCertificate(owner.path, host, now, { name: 'konnectivity', target });
  if (result.code !== 'Passed') return result;
  return { ...result, message: `${answerText(answer)} ${result.message}` };
}
