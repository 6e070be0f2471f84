/**
 * konnectivity: TLS for the konnectivity host ends at this tenant's konnectivity-server, as an agent wants it.
 */
import type { HopCode } from '../codes.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { API_PROTOCOL } from './api.ts';
import { answerText, type Answer, type Owner } from '../tls/owner.ts';
import { certificateText, validityOf, validityText } from '../tls/validity.ts';

/** What agents offer by ALPN, and must get: they speak gRPC. */
export const AGENT_PROTOCOL = 'h2';

const OWNER_CODES = {
  otherTenant: 'KonnectivityOtherTenant',
  stranger: 'KonnectivityUnknownAuthority',
  edge: 'KonnectivityEdgeTerminates',
  noRoute: 'KonnectivityNoRoute',
  noEndpoint: 'KonnectivityNoEndpoint',
  refused: 'KonnectivityRefused',
  notTls: 'KonnectivityNotTls',
  timeout: 'KonnectivityTimeout',
} as const satisfies Record<Exclude<Owner['kind'], 'tenant'>, HopCode>;

const VALIDITY_CODES = {
  expiresSoon: 'KonnectivityExpiresSoon',
  expired: 'KonnectivityExpired',
  notYet: 'KonnectivityNotYetValid',
} as const;

/**
 * Judges the answers to two handshakes for the konnectivity host: one offers what agents offer, `asApi` only
 * {@link API_PROTOCOL}. An API server takes that. konnectivity-server, which may have the same certificate, does not: gRPC
 * in Go has HTTP/2 only, chooses no protocol, and closes the connection after the handshake.
 */
export function judgeKonnectivity(answer: Answer, asApi: Owner, now: Date): HopResult {
  const { host, port, owner } = answer;
  const target = `${host}:${port}`;
  const text = answerText(answer);
  if (owner.kind !== 'tenant') {
    const tenant = owner.kind === 'otherTenant' ? owner.tenant : '';
    return hopResult(OWNER_CODES[owner.kind], target, text, { host, tenant });
  }
  if (owner.protocol !== AGENT_PROTOCOL) {
    const message = `${host} at ${answer.at} does not agree on HTTP/2`;
    return hopResult('KonnectivityNotHttp2', target, message, { host });
  }
  if (asApi.kind === 'tenant' && asApi.protocol === API_PROTOCOL) {
    const message = `${host} at ${answer.at} leads to a server of HTTP/1.1, as the API server is`;
    return hopResult('KonnectivityLeadsToApi', target, message, { host });
  }
  const validity = validityOf(owner.path, host, now);
  const message = validityText(validity, host);
  switch (validity.kind) {
    case 'valid':
      return hopResult('KonnectivityAnswers', target, `${text}; ${message}`);
    case 'nameMissing':
      return hopResult('KonnectivityNameMissing', target, message, { host });
    case 'expiresSoon':
    case 'expired':
    case 'notYet': {
      const certificate = certificateText(validity.certificate);
      return hopResult(VALIDITY_CODES[validity.kind], target, message, { certificate });
    }
  }
}
