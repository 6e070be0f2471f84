/**
 * split-hello, small-records, large-hello, upper-case: a ClientHello in any form is routed to its host.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { handshakeThrough, type HelloOptions } from '../edge-connection.ts';
import { inSegments, inSmallRecords } from '../hello-shape.ts';
import { handshakeText, type Whose } from '../recognition.ts';
import type { Handshake } from '../../tls/handshake.ts';

/** A host that was not reached, and what answered instead. */
export interface Astray {
  readonly host: string;
  readonly handshake: Handshake;
  /** Undefined if the handshake failed. */
  readonly whose: Whose | undefined;
  /** The finding, as a sentence. */
  readonly text: string;
}

/** Checks a ClientHello in many TCP segments. */
export async function checkSplitHello(checkup: Checkup): Promise<CheckResult> {
  const astray = await firstAstray(checkup, { shape: inSegments });
  if (astray === undefined) {
    return checkResult('SplitHelloRouted', 'a hello in six segments arrives');
  }
  if (astray.handshake.kind === 'timeout') {
    const seconds = checkup.limits.timeoutMs / 1000;
    return checkResult(
      'SplitHelloTimeout',
      `${checkup.at} gave no answer within ${seconds} s, asked for ${astray.host} in a hello of six segments`,
    );
  }
  return checkResult('SplitHelloNotRouted', `${astray.text} in a hello of six segments`);
}

/** Checks a ClientHello in many TLS records. */
export async function checkSmallRecords(checkup: Checkup): Promise<CheckResult> {
  const astray = await firstAstray(checkup, { shape: inSmallRecords });
  if (astray === undefined) {
    return checkResult('SmallRecordsRouted', 'a hello in records of 64 bytes arrives');
  }
  const message = `${astray.text} in a hello in records of 64 bytes`;
  return astray.whose === undefined || astray.whose.kind === 'stranger'
    ? checkResult('SmallRecordsRefused', message)
    : checkResult('SmallRecordsMisrouted', message);
}

/** Checks a ClientHello that is larger than a TCP segment. */
export async function checkLargeHello(checkup: Checkup): Promise<CheckResult> {
  const astray = await firstAstray(checkup, { isLarge: true });
  return astray === undefined
    ? checkResult('LargeHelloRouted', 'a hello of four kilobytes arrives')
    : checkResult('LargeHelloNotRouted', `${astray.text} in a hello of four kilobytes`);
}

/** Checks a server name in upper case. */
export async function checkUpperCase(checkup: Checkup): Promise<CheckResult> {
  const astray = await firstAstray(checkup, {}, (host) => host.toUpperCase());
  return astray === undefined
    ? checkResult('UpperCaseRouted', 'a name in upper case is as good as one in lower case')
    : checkResult('UpperCaseNotRouted', `${astray.text} in upper case`);
}

/** Sends this ClientHello for each host, and returns the first host that was not reached. */
async function firstAstray(
  { edge, at, served, limits, recognition }: Checkup,
  form: HelloOptions,
  nameOf: (host: string) => string = (host) => host,
): Promise<Astray | undefined> {
  const all = await Promise.all(
    served.map(async (host): Promise<Astray | undefined> => {
      const hello = { ...form, serverName: nameOf(host) };
      const handshake = await handshakeThrough(edge, hello, limits);
      const whose =
        handshake.kind === 'secured' ? recognition.whose(host, handshake.presented) : undefined;
      if (whose?.kind === 'own') return undefined;
      const text = `${at} ${handshakeText(handshake, limits.timeoutMs)}, asked for ${host}`;
      return { host, handshake, whose, text };
    }),
  );
  return all.find((astray) => astray !== undefined);
}
