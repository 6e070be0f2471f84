/**
 * server-close: when the server closes a connection, the complete response arrives, and then the close.
 */
import { checkResult, nothingToCheck, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { firstResponse, versionRequest } from '../http1.ts';

/** Sends a request with `Connection: close`. */
export async function checkServerClose({
  edge,
  at,
  httpHost,
  limits,
}: Checkup): Promise<CheckResult> {
  if (httpHost === undefined) {
    return nothingToCheck('server-close', 'no server behind the edge answers in HTTP/1.1');
  }
  using connection = await openHttp(edge, httpHost, limits);
  connection.send(versionRequest(httpHost, { close: true }));
  const response = await connection.receive(firstResponse, limits);
  if (typeof response === 'object' && (await connection.endsTcp(limits))) {
    return checkResult('ServerClosePassedOn', 'the end of the server comes behind its answer');
  }
  const what = typeof response === 'object' ? 'no end comes behind the answer' : 'no answer comes';
  const message = `${what} in ${limits.timeoutMs} ms, asked for the last one of ${httpHost} at ${at}`;
  return checkResult('ServerCloseNotPassedOn', message);
}
