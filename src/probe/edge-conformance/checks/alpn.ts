/**
 * alpn-h2: what clients offer by ALPN reaches the server, and so HTTP/2 is agreed on.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';

/** Judges what was chosen of h2 and http/1.1. */
export function judgeAlpn({ served, looks, recognition }: Checkup): CheckResult {
  const chosen = served.map((host) => {
    const [first] = looks.get(host) ?? [];
    return { host, protocol: first?.kind === 'secured' ? first.protocol : undefined };
  });
  const lost = chosen.find(({ protocol }) => protocol === undefined);
  if (lost !== undefined) {
    const { host } = lost;
    const message = `of h2 and http/1.1 none is chosen for ${host}`;
    // Its own certificate is there: so would it be before a server without ALPN, and with an edge that has its key.
    return recognition.hasAuthorities
      ? checkResult(
          'AlpnNotAnswered',
          `${message}: its server does not negotiate ALPN, or something that has its key ends TLS before it`,
          { host },
        )
      : checkResult('AlpnLost', message, { host });
  }
  const other = chosen.find(({ protocol }) => protocol !== 'h2');
  if (other !== undefined) {
    const { host, protocol } = other;
    return checkResult('AlpnH2NotChosen', `${protocol} is chosen for ${host}`, { host });
  }
  return checkResult('AlpnH2Kept', `h2 is chosen for ${served.join(', ')}`);
}
