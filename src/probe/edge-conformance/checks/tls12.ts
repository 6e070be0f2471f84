/**
 * tls-1.2, client-certificates: a TLS 1.2 client is served, and the server's certificate request arrives. It is visible
 * only in TLS 1.2.
 */
import { checkResult, notApplicable, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { EdgeConnection } from '../edge-connection.ts';
import { handshakeText } from '../recognition.ts';
import { MESSAGES } from '../record-log.ts';
import type { Handshake } from '../../tls/handshake.ts';

interface Seen {
  readonly host: string;
  readonly handshake: Handshake;
  readonly asksForCertificate: boolean;
}

/** Runs both checks with one connection per host. */
export async function checkTls12(checkup: Checkup): Promise<readonly [CheckResult, CheckResult]> {
  const seen = await Promise.all(checkup.served.map(async (host) => observe(checkup, host)));
  return [judgeVersion(checkup, seen), judgeClientCertificates(seen)];
}

async function observe({ edge, limits }: Checkup, host: string): Promise<Seen> {
  const hello = { serverName: host, version: 'TLSv1.2' } as const;
  using connection = await EdgeConnection.open(edge, hello, limits);
  const types = connection.records?.messageTypes() ?? [];
  return {
    host,
    handshake: connection.handshake,
    asksForCertificate: types.includes(MESSAGES.certificateRequest),
  };
}

function judgeVersion({ at, limits, recognition }: Checkup, seen: readonly Seen[]): CheckResult {
  for (const { host, handshake } of seen) {
    const isOwn =
      handshake.kind === 'secured' && recognition.ownerOf(host, handshake.presented).kind === 'own';
    if (isOwn || isUnspoken(handshake)) continue;
    const text = handshakeText(handshake, limits.timeoutMs);
    return checkResult(
      'tls-1.2',
      'HelloNotRouted',
      `The server at ${at} ${text} for host ${host} in TLS 1.2.`,
      { change: 'let the server behind it choose the TLS version' },
    );
  }
  return seen.every(({ handshake }) => isUnspoken(handshake))
    ? notApplicable('tls-1.2', 'The servers behind the edge require TLS 1.3.')
    : checkResult('tls-1.2', 'Passed', 'A TLS 1.2 ClientHello reaches its host.');
}

function judgeClientCertificates(seen: readonly Seen[]): CheckResult {
  const asking = seen.filter(({ asksForCertificate }) => asksForCertificate);
  if (asking.length > 0) {
    const hosts = asking.map(({ host }) => host).join(', ');
    return checkResult(
      'client-certificates',
      'Passed',
      `The certificate request of ${hosts} reaches the client.`,
    );
  }
  return notApplicable(
    'client-certificates',
    'No server requests a client certificate in TLS 1.2, but a kube-apiserver would.',
  );
}

/** Reports whether the server rejected the version, which it may. */
function isUnspoken(handshake: Handshake): boolean {
  return handshake.kind === 'alert' && handshake.alert === 'protocol_version';
}
