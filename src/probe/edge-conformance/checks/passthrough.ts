/**
 * passthrough: TLS for each host is terminated behind the edge, by the server of that host.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { HandshakesByHost } from '../checkup.ts';
import { handshakeText, type Recognition } from '../recognition.ts';
import type { Handshake } from '../../tls/handshake.ts';

/** Returns the failure of the first host that is not served, or a pass. */
export function judgePassthrough(
  handshakes: HandshakesByHost,
  recognition: Recognition,
  { at, timeoutMs }: { readonly at: string; readonly timeoutMs: number },
): CheckResult {
  for (const [host, ofHost] of handshakes) {
    for (const handshake of ofHost) {
      const text = `${at} ${handshakeText(handshake, timeoutMs)}, asked for ${host}`;
      const fault = faultOf(host, handshake, recognition, text);
      if (fault !== undefined) return fault;
    }
  }
  const hosts = [...handshakes.keys()].join(', ');
  return recognition.hasAuthorities
    ? checkResult('PassthroughProven', `each of ${hosts} ends at its own tenant`)
    : checkResult(
        'PassthroughNotProven',
        `each of ${hosts} is answered with a certificate that has its name; whose it is cannot be told without a CA`,
      );
}

/** Reports whether every handshake reached the host. */
export function isServed(
  host: string,
  handshakes: readonly Handshake[],
  recognition: Recognition,
): boolean {
  return handshakes.every(
    (handshake) =>
      handshake.kind === 'secured' &&
      recognition.ownerInPlainHandshake(host, handshake.presented).kind === 'own',
  );
}

function faultOf(
  host: string,
  handshake: Handshake,
  recognition: Recognition,
  text: string,
): CheckResult | undefined {
  switch (handshake.kind) {
    case 'secured': {
      const owner = recognition.ownerInPlainHandshake(host, handshake.presented);
      switch (owner.kind) {
        case 'own':
          return undefined;
        case 'otherHost':
          return checkResult('PassthroughOtherHost', `${text}: that is ${owner.host}`, { host });
        case 'unnamed':
          return checkResult('PassthroughNameMissing', `${text}, which lacks that name`, { host });
        case 'unknownAuthority':
          return checkResult(
            'PassthroughUnknownAuthority',
            `${text}, which is that of an API server, but of no CA given`,
            { host },
          );
        case 'edge':
          return checkResult(
            'PassthroughEdgeEndsTls',
            `${text}, which ${recognition.hasAuthorities ? 'is of no CA given' : 'lacks that name'}`,
            { host },
          );
      }
    }
    case 'alert':
    case 'closed':
    case 'malformed':
      return checkResult('PassthroughRefused', text, { host });
    case 'notTls':
      return checkResult('PassthroughNotTls', text, { host });
    case 'timeout':
      return checkResult('PassthroughTimeout', text, { host });
  }
}
