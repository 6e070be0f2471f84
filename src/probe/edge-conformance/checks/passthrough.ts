/**
 * passthrough: TLS for each host is terminated behind the edge, by the server of that host.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { HandshakesByHost } from '../checkup.ts';
import { handshakeText, type Recognition } from '../recognition.ts';
import type { Handshake } from '../../tls/handshake.ts';

/** What to do before the action of the code: the CA of one tenant may be missing on the command line. */
const OWN_CA = "If it is the tenant's own, pass its CA with --ca.";

/** Returns the failure of the first host that is not served, or a pass. */
export function judgePassthrough(
  handshakes: HandshakesByHost,
  recognition: Recognition,
  { at, timeoutMs }: { readonly at: string; readonly timeoutMs: number },
): CheckResult {
  for (const [host, ofHost] of handshakes) {
    for (const handshake of ofHost) {
      const text = `The server at ${at} ${handshakeText(handshake, timeoutMs)} for host ${host}.`;
      const fault = faultOf(host, handshake, recognition, text);
      if (fault !== undefined) return fault;
    }
  }
  const hosts = [...handshakes.keys()];
  const [host] = hosts;
  const isOne = hosts.length === 1;
  const each = isOne ? `Host ${host}` : `Each of ${hosts.join(', ')}`;
  const owner = isOne ? 'owner of the certificate' : 'owner of the certificates';
  return recognition.hasAuthorities
    ? checkResult('passthrough', 'Passed', `${each} reaches its own tenant.`)
    : checkResult(
        'passthrough',
        'PassthroughNotProven',
        `${each} presents a certificate with its name. Without a CA, the ${owner} is unknown.`,
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
  const values = { host, server: 'its server' };
  switch (handshake.kind) {
    case 'secured': {
      const owner = recognition.ownerInPlainHandshake(host, handshake.presented);
      switch (owner.kind) {
        case 'own':
          return undefined;
        case 'otherHost':
          return checkResult(
            'passthrough',
            'OtherTenant',
            `${text} The certificate belongs to host ${owner.host}.`,
            { host },
          );
        case 'unnamed':
          return checkResult(
            'passthrough',
            'CertificateNameMissing',
            `${text} The certificate does not include that name.`,
            { host },
          );
        case 'unknownAuthority':
          return checkResult(
            'passthrough',
            'UnknownAuthority',
            `${text} The certificate is that of an API server, but no given CA signed it. ${OWN_CA}`,
            { host },
          );
        case 'edge':
          return checkResult(
            'passthrough',
            'EdgeTerminates',
            `${text} ${recognition.hasAuthorities ? `No given CA signed the certificate. ${OWN_CA}` : 'The certificate does not include that name.'}`,
            { host },
          );
      }
    }
    case 'alert':
    case 'closed':
    case 'malformed':
      return checkResult('passthrough', 'NoRoute', text, values);
    case 'notTls':
      return checkResult('passthrough', 'NotTls', text, values);
    case 'timeout':
      return checkResult('passthrough', 'TlsTimeout', text, values);
  }
}
