/**
 * own-certificates, same-key: each host has its own certificate, always with the same key.
 */
import { checkResult, notApplicable, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { keyOf } from '../recognition.ts';

/** Checks whether two hosts present the same certificate. */
export function judgeOwnCertificates(checkup: Checkup): CheckResult {
  const { served, recognition } = checkup;
  if (served.length < 2) {
    return notApplicable(
      'own-certificates',
      `There is no other host to compare ${served[0]} with.`,
    );
  }
  const byKey = Map.groupBy(served, (host) => keysOf(checkup, host)[0] ?? host);
  const shared = [...byKey.values()].find((hosts) => hosts.length > 1);
  if (shared === undefined) {
    return checkResult(
      'own-certificates',
      'Passed',
      `All ${served.length} hosts present different certificates.`,
    );
  }
  const hosts = shared.join(', ');
  // A tenant may use one certificate for its API host and its konnectivity host.
  return recognition.hasAuthorities
    ? checkResult('own-certificates', 'Passed', `Hosts ${hosts} share a certificate of a given CA.`)
    : checkResult(
        'own-certificates',
        'PassthroughNotProven',
        `Hosts ${hosts} present the same certificate.`,
      );
}

/** Checks whether a host always presents the same key. */
export function judgeSameKey(checkup: Checkup): CheckResult {
  for (const host of checkup.served) {
    const keys = keysOf(checkup, host);
    const different = new Set(keys).size;
    if (different > 1) {
      const message = `Host ${host} presented ${different} different keys on ${keys.length} connections.`;
      return checkResult('same-key', 'KeyChanges', message, { host });
    }
  }
  const [first, ...others] = checkup.served;
  const each = others.length === 0 ? `Host ${first}` : `Each of ${checkup.served.join(', ')}`;
  return checkResult('same-key', 'Passed', `${each} always presents the same key.`);
}

function keysOf({ handshakes }: Checkup, host: string): readonly string[] {
  return (handshakes.get(host) ?? []).flatMap((handshake) =>
    handshake.kind === 'secured' ? [keyOf(handshake.presented[0])] : [],
  );
}
