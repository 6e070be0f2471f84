/**
 * split-hello, small-records, large-hello, upper-case: a ClientHello in any form is routed to its host.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { handshakeThrough, type HelloOptions } from '../edge-connection.ts';
import { inSegments, inSmallRecords } from '../hello-shape.ts';
import { handshakeText, type CertificateOwner } from '../recognition.ts';
import type { Handshake } from '../../tls/handshake.ts';

/** A host that was not reached, and what answered instead. */
interface Misrouted {
  readonly host: string;
  readonly handshake: Handshake;
  /** Undefined if the handshake failed. */
  readonly owner: CertificateOwner | undefined;
  /** The finding, as a sentence. */
  readonly text: string;
}

/** Checks a ClientHello in many TCP segments. */
export async function checkSplitHello(checkup: Checkup): Promise<CheckResult> {
  const misrouted = await firstMisrouted(checkup, { shape: inSegments });
  if (misrouted === undefined) {
    return checkResult('split-hello', 'Passed', 'A ClientHello in six segments reaches its host.');
  }
  if (misrouted.handshake.kind === 'timeout') {
    const seconds = checkup.limits.timeoutMs / 1000;
    return checkResult(
      'split-hello',
      'TlsTimeout',
      `The server at ${checkup.at} did not answer within ${seconds} s for host ${misrouted.host} with a ClientHello in six segments.`,
      { host: misrouted.host, server: 'the server' },
    );
  }
  return checkResult(
    'split-hello',
    'HelloNotRouted',
    `${misrouted.text} with a ClientHello in six segments.`,
    { change: 'wait for the whole ClientHello (HAProxy: tcp-request inspect-delay)' },
  );
}

/** Checks a ClientHello in many TLS records. */
export async function checkSmallRecords(checkup: Checkup): Promise<CheckResult> {
  const misrouted = await firstMisrouted(checkup, { shape: inSmallRecords });
  if (misrouted === undefined) {
    return checkResult(
      'small-records',
      'Passed',
      'A ClientHello in records of 64 bytes reaches its host.',
    );
  }
  const message = `${misrouted.text} with a ClientHello in records of 64 bytes.`;
  return misrouted.owner === undefined || misrouted.owner.kind === 'edge'
    ? checkResult('small-records', 'SmallRecordsRefused', message)
    : checkResult('small-records', 'DefaultRouteReachesTenant', message);
}

/** Checks a ClientHello that is larger than a TCP segment. */
export async function checkLargeHello(checkup: Checkup): Promise<CheckResult> {
  const misrouted = await firstMisrouted(checkup, { isLarge: true });
  return misrouted === undefined
    ? checkResult('large-hello', 'Passed', 'A ClientHello of four kilobytes reaches its host.')
    : checkResult(
        'large-hello',
        'HelloNotRouted',
        `${misrouted.text} with a ClientHello of four kilobytes.`,
        { change: 'have a larger buffer for the ClientHello (HAProxy: tune.bufsize)' },
      );
}

/** Checks a server name in upper case. */
export async function checkUpperCase(checkup: Checkup): Promise<CheckResult> {
  const misrouted = await firstMisrouted(checkup, {}, (host) => host.toUpperCase());
  return misrouted === undefined
    ? checkResult('upper-case', 'Passed', 'A name in upper case reaches the same host.')
    : checkResult('upper-case', 'HelloNotRouted', `${misrouted.text} in upper case.`, {
        change: 'compare names in lower case (HAProxy: req.ssl_sni,lower)',
      });
}

/** Sends this ClientHello for each host, and returns the first host that was not reached. */
async function firstMisrouted(
  { edge, at, served, limits, recognition }: Checkup,
  form: HelloOptions,
  nameOf: (host: string) => string = (host) => host,
): Promise<Misrouted | undefined> {
  const all = await Promise.all(
    served.map(async (host): Promise<Misrouted | undefined> => {
      const hello = { ...form, serverName: nameOf(host) };
      const handshake = await handshakeThrough(edge, hello, limits);
      const owner =
        handshake.kind === 'secured' ? recognition.ownerOf(host, handshake.presented) : undefined;
      if (owner?.kind === 'own') return undefined;
      const text = `The server at ${at} ${handshakeText(handshake, limits.timeoutMs)} for host ${host}`;
      return { host, handshake, owner, text };
    }),
  );
  return all.find((misrouted) => misrouted !== undefined);
}
