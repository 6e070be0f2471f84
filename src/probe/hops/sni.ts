/**
 * sni: TLS for the API host through the edge is terminated by this tenant.
 */
import { hopResult, type HopResult } from '../hop.ts';
import { answerText, type Owner, type PeerAnswer } from '../tls/owner.ts';

const CODES = {
  otherTenant: 'OtherTenant',
  unknownAuthority: 'UnknownAuthority',
  edge: 'EdgeTerminates',
  noRoute: 'NoRoute',
  noEndpoint: 'NoEndpoint',
  refused: 'TlsRefused',
  notTls: 'NotTls',
  timeout: 'TlsTimeout',
} as const satisfies Record<Exclude<Owner['kind'], 'tenant'>, string>;

/** Returns the result for the peer that answered for the API host. */
export function judgeSni(answer: PeerAnswer): HopResult {
  const { kind } = answer.owner;
  return kind === 'tenant'
    ? hopResult('sni', 'Passed', targetOf(answer), answerText(answer))
    : misrouted('sni', answer, kind, 'the control plane');
}

/** Returns the failure if another peer answered than this tenant. `server` names the server that should answer. */
export function misrouted(
  hop: 'sni' | 'konnectivity',
  answer: PeerAnswer,
  kind: keyof typeof CODES,
  server: string,
): HopResult {
  const values = { host: answer.host, server };
  return hopResult(hop, CODES[kind], targetOf(answer), answerText(answer), values);
}

function targetOf({ host, port }: PeerAnswer): string {
  return `${host}:${port}`;
}
