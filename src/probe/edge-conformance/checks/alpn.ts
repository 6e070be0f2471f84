/**
 * alpn-h2: the client's ALPN offer reaches the server, so that HTTP/2 is negotiated.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';

/** Checks which of h2 and http/1.1 was negotiated. */
export function judgeAlpn({ served, handshakes, recognition }: Checkup): CheckResult {
  const chosen = served.map((host) => {
    const [first] = handshakes.get(host) ?? [];
    return { host, protocol: first?.kind === 'secured' ? first.protocol : undefined };
  });
  const lost = chosen.find(({ protocol }) => protocol === undefined);
  if (lost !== undefined) {
    const { host } = lost;
    const message = `No protocol of h2 and http/1.1 is selected for host ${host}.`;
    // The certificate is the tenant's own. That is also the case if the server does not negotiate ALPN, or if the edge
    // has its key.
    return recognition.hasAuthorities
      ? checkResult(
          'alpn-h2',
          'AlpnNotNegotiated',
          `${message} Its server does not negotiate ALPN, or something with its key terminates TLS before it.`,
          { host },
        )
      : checkResult('alpn-h2', 'AlpnLost', message, { host });
  }
  const other = chosen.find(({ protocol }) => protocol !== 'h2');
  if (other !== undefined) {
    const { host, protocol } = other;
    return checkResult(
      'alpn-h2',
      'AlpnNotNegotiated',
      `Protocol ${protocol} is selected for host ${host}.`,
      {
        host,
      },
    );
  }
  return checkResult('alpn-h2', 'Passed', `Protocol h2 is selected for ${served.join(', ')}.`);
}
