/**
 * alpn-h2: what clients offer by ALPN reaches the server, and so HTTP/2 is agreed on.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';

/** Judges what was chosen of h2 and http/1.1. */
export function judgeAlpn({ served, looks }: Checkup): CheckResult {
  const chosen = served.map((host) => {
    const [first] = looks.get(host) ?? [];
    return { host, protocol: first?.kind === 'secured' ? first.protocol : undefined };
  });
  const lost = chosen.find(({ protocol }) => protocol === undefined);
  if (lost !== undefined) {
    const { host } = lost;
    return checkResult('AlpnLost', `of h2 and http/1.1 none is chosen for ${host}`, { host });
  }
  const other = chosen.find(({ protocol }) => protocol !== 'h2');
  if (other !== undefined) {
    const { host, protocol } = other;
    return checkResult('AlpnH2NotChosen', `${protocol} is chosen for ${host}`, { host });
  }
  return checkResult('AlpnH2Kept', `h2 is chosen for ${served.join(', ')}`);
}
