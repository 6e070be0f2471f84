/**
 * konnectivity: TLS for the konnectivity host ends at this tenant's konnectivity-server, as an agent wants it.
 */
import type { HopCode } from '../codes.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { answerText, type Answer, type Owner } from '../tls/owner.ts';
import { certificateText, validityOf, validityText } from '../tls/validity.ts';

/** What agents offer by ALPN, and must get: they speak gRPC. */
export const AGENT_PROTOCOL = 'h2';

/**
 * What tells an API server from konnectivity-server, which may have the very same certificate: offered this alone, the
 * first takes it. gRPC in Go has HTTP/2 only: it chooses none, and the connection is let down behind the handshake.
 */
export const API_PROTOCOL = 'http/1.1';

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

/** Judges who answered for the konnectivity host: offered what agents offer, and offered what only the API takes. */
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
