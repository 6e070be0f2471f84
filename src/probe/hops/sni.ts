/**
 * sni: TLS for the API host through the edge is terminated by this tenant.
 */
import type { CodeOf } from '../codes.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { answerText, type PeerAnswer, type Owner } from '../tls/owner.ts';

const CODES = {
  otherTenant: 'SniOtherTenant',
  unknownAuthority: 'SniUnknownAuthority',
  edge: 'SniEdgeTerminates',
  noRoute: 'SniNoRoute',
  noEndpoint: 'SniNoEndpoint',
  refused: 'SniRefused',
  notTls: 'SniNotTls',
  timeout: 'SniTimeout',
} as const satisfies Record<Exclude<Owner['kind'], 'tenant'>, CodeOf<'sni'>>;

/** Returns the result for the peer that answered for the API host. */
export function judgeSni(answer: PeerAnswer): HopResult {
  const { host, port, owner } = answer;
  const target = `${host}:${port}`;
  if (owner.kind === 'tenant') return hopResult('sni', 'Passed', target, answerText(answer));
  const tenant = owner.kind === 'otherTenant' ? owner.tenant : '';
  const values = { host, port: String(port), tenant };
  return hopResult('sni', CODES[owner.kind], target, answerText(answer), values);
}
