/**
 * konnectivity: TLS for the konnectivity host is terminated by this tenant's konnectivity-server, as agents require.
 */
import type { CodeOf } from '../codes.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { API_PROTOCOL } from './api.ts';
import { answerText, type PeerAnswer, type Owner } from '../tls/owner.ts';
import { certificateText, validityOf, validityText } from '../tls/validity.ts';

/** The ALPN protocol that agents offer and require, since they use gRPC. */
export const AGENT_PROTOCOL = 'h2';

const OWNER_CODES = {
  otherTenant: 'KonnectivityOtherTenant',
  unknownAuthority: 'KonnectivityUnknownAuthority',
  edge: 'KonnectivityEdgeTerminates',
  noRoute: 'KonnectivityNoRoute',
  noEndpoint: 'KonnectivityNoEndpoint',
  refused: 'KonnectivityRefused',
  notTls: 'KonnectivityNotTls',
  timeout: 'KonnectivityTimeout',
} as const satisfies Record<Exclude<Owner['kind'], 'tenant'>, CodeOf<'konnectivity'>>;

const VALIDITY_CODES = {
  expiresSoon: 'KonnectivityExpiresSoon',
  expired: 'KonnectivityExpired',
  notYet: 'KonnectivityNotYetValid',
} as const;

/**
 * Returns the result for two handshakes with the konnectivity host: one offers what agents offer, `asApi` only {@link
 * API_PROTOCOL}. An API server accepts that. konnectivity-server, which may have the same certificate, does not: gRPC
 * in Go supports only HTTP/2, selects no protocol, and closes the connection after the handshake.
 */
export function judgeKonnectivity(answer: PeerAnswer, asApi: Owner, now: Date): HopResult {
  const { host, port, owner } = answer;
  const target = `${host}:${port}`;
  const text = answerText(answer);
  if (owner.kind !== 'tenant') {
    const tenant = owner.kind === 'otherTenant' ? owner.tenant : '';
    return hopResult('konnectivity', OWNER_CODES[owner.kind], target, text, { host, tenant });
  }
  if (owner.protocol !== AGENT_PROTOCOL) {
    const message = `Host ${host} at ${answer.at} does not negotiate HTTP/2.`;
    return hopResult('konnectivity', 'KonnectivityNotHttp2', target, message, { host });
  }
  if (asApi.kind === 'tenant' && asApi.protocol === API_PROTOCOL) {
    const message = `Host ${host} at ${answer.at} reaches an HTTP/1.1 server, such as the API server.`;
    return hopResult('konnectivity', 'KonnectivityReachesApi', target, message, { host });
  }
  const validity = validityOf(owner.path, host, now);
  const message = validityText(validity, host);
  switch (validity.kind) {
    case 'valid':
      return hopResult('konnectivity', 'Passed', target, `${text} ${message}`);
    case 'nameMissing':
      return hopResult('konnectivity', 'KonnectivityNameMissing', target, message, { host });
    case 'expiresSoon':
    case 'expired':
    case 'notYet': {
      const certificate = certificateText(validity.certificate);
      return hopResult('konnectivity', VALIDITY_CODES[validity.kind], target, message, {
        certificate,
      });
    }
  }
}
